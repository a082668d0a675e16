/// Which region a page belongs to, and so which process is its home, as the application thread finds it: what this
/// process does not know it asks process 0 for, once for each region.
#pragma once

#include "native/dsm/region_books.hpp"

namespace sdsm::dsm {

/// The region of a page in shared memory, asked for if need be; null if it belongs to none (never allocated).
const RegionInfo* region_at(const Range& range, std::uintptr_t page, std::uint32_t& id) REQUIRES(application);

/// The home of a page of `region`. If it is placed by first touch, this is a touch.
ProcessId home_of_page(const Range& range, std::uintptr_t page, const RegionInfo& region, PageId id)
    REQUIRES(application);

}  // namespace sdsm::dsm
