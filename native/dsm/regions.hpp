/// Which region a page belongs to, and so which process is its home. The initial thread's process keeps the books; the
/// others ask it once for each region. A block that is freed and allocated again is a new region at old addresses: a
/// generation, which travels with every message and so with every lock and barrier, tells others to forget what they
/// know.
#pragma once

#include <cstdint>
#include <vector>

#include "models/placement.hpp"
#include "native/dsm/memory.hpp"
#include "native/program/shared_memory.hpp"
#include "workloads/trace/region_numbers.hpp"

namespace sdsm::dsm {

using trace::administrative_region;
using trace::control_region;
using trace::globals_region;
using trace::stack_region;

/// A region, and adjacent pages that belong to it. (An array that the program places is cut out of the globals.)
struct KnownRegion {
  std::uint32_t id = 0;
  RegionInfo info;
  std::uintptr_t begin = 0;  ///< of those pages
  std::uint64_t pages = 0;   ///< 0: the page asked for belongs to no region
};

void name_fixed_region(std::uint32_t id, const RegionInfo& region);

/// At the keeper of the books: the regions that the program has made so far, oldest first.
std::vector<RegionInfo> made_regions();

/// The region of a page in shared memory, asked for if need be; null if it belongs to none (never allocated).
const RegionInfo* region_at(Range& range, std::uintptr_t page, std::uint32_t& id);

/// The home of a page of `region`. If it is placed by first touch, this is a touch.
ProcessId home_of_page(Range& range, std::uintptr_t page, const RegionInfo& region, PageId id);

/// At the keeper of the books, from its service thread.
KnownRegion known_region(std::uintptr_t page);

std::uint32_t generation();
/// Another process says that it knows generation `other`. A newer one makes this process forget, and returns true.
bool learn_generation(std::uint32_t other);

}  // namespace sdsm::dsm
