/// What this process knows of regions, by page. The initial thread's process keeps the books; the others know what they
/// have asked for (regions.hpp). A block that is freed and allocated again is a new region at old addresses: a
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

/// Before any other function here.
void start_region_books() REQUIRES(starting);
void name_fixed_region(std::uint32_t id, const RegionInfo& region) REQUIRES(starting);

/// The region's number that a page has here; no_region if it has none. Any thread.
std::uint32_t region_number(const Range& range, std::uintptr_t page);
const RegionInfo& region(std::uint32_t id);

/// At the keeper of the books: the regions that the program has made so far, oldest first.
std::vector<RegionInfo> made_regions();
/// At the keeper of the books. Any thread.
KnownRegion known_region(std::uintptr_t page);
/// Elsewhere: what the keeper of the books has said.
void learn_region(const KnownRegion& known) REQUIRES(application);

/// Any thread.
std::uint32_t generation();
/// Another process says that it knows generation `other`. A newer one makes this process forget.
void learn_generation(std::uint32_t other) REQUIRES(application);

}  // namespace sdsm::dsm
