/// Homes of pages that are placed by first touch: the process that touches a page first is its home for good. There
/// is one table for the whole cluster: the simulator's, or that of the run-time's process 0.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "models/ids.hpp"

namespace sdsm {

class FirstTouchHomes {
 public:
  /// `toucher` touches the page. Returns its home: `toucher`, if it is the first.
  ProcessId touched(PageId page, ProcessId toucher) {
    std::optional<ProcessId>& home = entry(page);
    if (!home) home = toucher;
    return *home;
  }

  /// The page's home; empty if nobody has touched it.
  std::optional<ProcessId> home(PageId page) const {
    const auto region = homes_.find(page.region);
    if (region == homes_.end() || page.index >= region->second.size()) return std::nullopt;
    return region->second[page.index];
  }

 private:
  std::optional<ProcessId>& entry(PageId page) {
    std::vector<std::optional<ProcessId>>& region = homes_[page.region];
    if (page.index >= region.size()) region.resize(page.index + 1);
    return region[page.index];
  }

  std::map<RegionId, std::vector<std::optional<ProcessId>>> homes_;
};

}  // namespace sdsm
