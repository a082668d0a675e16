/// Which pages nodes have used, or which twins: the system gives each its memory when it is used for the first time.
#pragma once

#include <vector>

#include "models/ids.hpp"

namespace sdsm::sim {

class FirstUses {
 public:
  /// `counts`: whether first uses cost something; if not, none is told.
  explicit FirstUses(bool counts) : counts_(counts) {}

  bool counts() const { return counts_; }

  /// `node` uses `page`, its own or a copy: whether for the first time.
  bool use(NodeId node, PageId page) {
    if (!counts_) return false;
    std::vector<bool>& of_region = in(in(seen_, index_of(node)), index_of(page.region));
    auto seen = in(of_region, page.index);
    const bool is_first = !seen;
    seen = true;
    return is_first;
  }

 private:
  template <typename Row>
  static typename Row::reference in(Row& row, std::size_t index) {
    if (row.size() <= index) row.resize(index + 1);
    return row[index];
  }

  bool counts_;
  std::vector<std::vector<std::vector<bool>>> seen_;  ///< by node, region and page
};

}  // namespace sdsm::sim
