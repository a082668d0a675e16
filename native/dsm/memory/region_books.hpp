/// Regions of pages, as far as this process knows them. Process 0 keeps the books; others know what they have asked for
/// (regions.hpp). A block that is freed and allocated again is a new region at old addresses. Every message carries the
/// sender's generation of regions, so locks and barriers spread it; a newer one makes a process forget its regions.
#pragma once

#include <cstdint>
#include <vector>

#include "models/program/regions.hpp"
#include "native/dsm/memory/larger_pages.hpp"
#include "native/dsm/memory/memory.hpp"
#include "native/dsm/wire/control.hpp"
#include "native/guest/memory/shared_memory.hpp"

namespace sdsm::dsm {

/// A region, and adjacent pages that belong to it. (An array that the program places is cut out of the globals.)
struct KnownRegion {
  std::uint32_t id = 0;
  RegionInfo info;
  std::uintptr_t begin = 0;  ///< of those pages
  std::uint64_t pages = 0;   ///< 0: the page asked for belongs to no region
  WholePage first, last;     ///< of the first and the last of them; other pages may lie between their parts
};

/// To be called before any other function here.
void start_region_books() REQUIRES(starting);
void set_fixed_region(std::uint32_t id, const RegionInfo& region) REQUIRES(starting);

/// Process 0: numbers a region of the program. name_region() names its pages when they are there.
std::uint32_t number_region(const RegionInfo& region, RegionOrigin origin);
/// Makes the region's pages belong to it from now on.
void name_region(std::uint32_t id);

/// Number of the page's region as known here; no_region if none is. Any thread.
std::uint32_t region_number(const Range& range, std::uintptr_t page);
const RegionInfo& region(std::uint32_t id);

/// Process 0, before main: the regions that the program has made, oldest first. Counts those that hold values as
/// touched by process 0 if they are placed by first touch.
std::vector<RegionInfo> place_regions();
/// Process 0, any thread.
KnownRegion known_region(std::uintptr_t page);
/// Keeps what process 0 has answered, in the other processes.
void learn_region(const KnownRegion& known) REQUIRES(application);

/// Any thread.
std::uint32_t generation();
/// Forgets this process's regions if generation `other`, which another process knows, is newer.
void learn_generation(std::uint32_t other) REQUIRES(application);

}  // namespace sdsm::dsm
