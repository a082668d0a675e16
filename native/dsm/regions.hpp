/// Which region a page belongs to, and so which process is its home. The initial thread's process keeps the books; the
/// others ask it once for each region. A block that is freed and allocated again is a new region at old addresses: a
/// generation, which travels with every message and so with every lock and barrier, tells others to forget what they
/// know.
#pragma once

#include <cstdint>

#include "models/placement.hpp"
#include "native/dsm/memory.hpp"
#include "native/program/shared_memory.hpp"

namespace sdsm::dsm {

/// Region 0 is none; these exist from the start, the same in all processes.
enum class FixedRegion : std::uint32_t { globals = 1, administrative, initial_stack, first_free };

struct KnownRegion {
  std::uint32_t id = 0;
  RegionInfo info;
};

/// Names a region that all processes know from the start. They all name the same ones in the same order.
std::uint32_t add_fixed_region(const RegionInfo& region);

/// The region of a page in shared memory, asked for if need be; null if it belongs to none (never allocated).
const RegionInfo* region_at(Range& range, std::uintptr_t page, std::uint32_t& id);

RegionHomes homes_of(const RegionInfo& region);

/// At the keeper of the books, from its service thread.
KnownRegion known_region(std::uintptr_t page);

std::uint32_t generation();
/// Another process says that it knows generation `other`. A newer one makes this process forget, and returns true.
bool learn_generation(std::uint32_t other);

}  // namespace sdsm::dsm
