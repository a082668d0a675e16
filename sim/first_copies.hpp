/// Which pages nodes have had copies of: the system gives a copy its memory when the first one comes.
#pragma once

#include <vector>

#include "models/ids.hpp"

namespace sdsm::sim {

class FirstCopies {
 public:
  /// A copy of `page` comes to `node`: whether it is the node's first.
  bool come(NodeId node, PageId page) {
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

  std::vector<std::vector<std::vector<bool>>> seen_;  ///< by node, region and page
};

}  // namespace sdsm::sim
