/// Which region a page belongs to, and so its home. The application thread asks process 0 once for each region.
#pragma once

#include "native/dsm/memory/region_books.hpp"

namespace sdsm::dsm {

/// The region of a page in shared memory; asks process 0 if need be. Null if the page has none (never allocated).
const RegionInfo* region_at(const Range& range, std::uintptr_t page, std::uint32_t& id) REQUIRES(application);

/// Regions that each process writes unseen where they are: stacks and thread-local variables.
std::vector<RegionId> unnoticed_regions();

/// Where the region's pages are placed, except by first touch.
RegionHomes homes_of(const RegionInfo& region);
/// The home of a page of `region` now. Counts as a touch if the region is placed by first touch.
ProcessId home_of_page(const Range& range, std::uintptr_t page, const RegionInfo& region, PageId id)
    REQUIRES(application);

/// The home of a page that this process has used.
ProcessId home_of(PageId page) REQUIRES(application);
/// Where the page lies.
WholePage page_of(const RegionInfo& region, PageId id);

/// Notes that a page moves, under JIAJIA.
void note_move(PageId page, ProcessId to) REQUIRES(application);
/// The present home of a page that was at `before`.
ProcessId home_after_moves(PageId page, ProcessId before) REQUIRES(application);

}  // namespace sdsm::dsm
