/// Tracks each node's first use of each page, or twin: the system allocates its memory then.
#pragma once

#include <bitset>
#include <deque>

#include "models/ids.hpp"
#include "models/page_table.hpp"

namespace sdsm::sim {

class FirstUses {
 public:
  /// `counts`: whether first uses cost time; if not, use() always returns false.
  explicit FirstUses(bool counts) : counts_(counts) {}

  /// Returns whether this is the node's first use of the page, its own or a copy.
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
