/// Which pages nodes have used, or which twins: the system gives each its memory when it is used for the first time.
#pragma once

#include <bitset>
#include <deque>

#include "models/ids.hpp"
#include "models/page_table.hpp"

namespace sdsm::sim {

class FirstUses {
 public:
  /// `counts`: whether first uses cost something; if not, none is told.
  explicit FirstUses(bool counts) : counts_(counts) {}

  /// `node` uses `page`, its own or a copy: whether for the first time.
  bool use(NodeId node, PageId page) {
    if (!counts_) return false;
    while (seen_.size() <= index_of(node)) seen_.emplace_back();
    auto seen = seen_[index_of(node)].get(page, [] { return Chunk{}; })[Seen::slot(page)];
    const bool is_first = !seen;
    seen = true;
    return is_first;
  }

 private:
  using Chunk = std::bitset<chunk_pages>;
  using Seen = PageTable<Chunk>;

  bool counts_;
  std::deque<Seen> seen_;  ///< by node
};

}  // namespace sdsm::sim
