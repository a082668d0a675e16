/// Compare-exchanges that come too late. A program that updates a word for which the processor has no instruction of
/// its own (a floating-point number, say) loads it, computes, and has its home store the result if the word still is
/// what was loaded. If another's operation came between, the home refuses; its reply says what the word is now, and the
/// program does the operation again with that.
///
/// Here no word has a value: what was found is the moment up to which an operation of another would be in it. What
/// plain stores change is not known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "models/ids.hpp"

namespace sdsm {

/// How many operations have changed words before it, anywhere.
using Moment = std::uint64_t;

/// An atomic operation on the word that begins at this byte of its region.
struct WordOperation {
  PageId page;
  std::uint64_t byte = 0;
  bool changes = false;           ///< the word
  bool compares = false;          ///< with what the thread found in it before
  std::optional<Moment> found{};  ///< of one that compares: when that was the word's value
};

class ComparedWords {
 public:
  Moment now() const { return changes_; }

  /// The home comes to it. Returns when the word was read for a refusal; nothing if it is done.
  std::optional<Moment> operate(const WordOperation& operation) {
    const auto word = std::pair(operation.page.region, operation.byte);
    if (operation.found) {
      const auto last = last_change_.find(word);
      if (last != last_change_.end() && last->second > *operation.found) return changes_;
    }
    if (!operation.changes) return std::nullopt;
    last_change_[word] = ++changes_;
    pages_.insert(operation.page);
    return std::nullopt;
  }

  /// The node gets a copy of the page as it is now.
  void copy(NodeId node, PageId page) {
    if (pages_.contains(page)) copies_[{page, node}] = changes_;
  }
  /// When the node's copy was made: before all changes if no operation had changed the page by then.
  Moment of_copy(NodeId node, PageId page) const {
    const auto found = copies_.find({page, node});
    return found == copies_.end() ? 0 : found->second;
  }

 private:
  Moment changes_ = 0;
  std::map<std::pair<RegionId, std::uint64_t>, Moment> last_change_;
  std::set<PageId> pages_;  ///< of changed words
  std::map<std::pair<PageId, NodeId>, Moment> copies_;
};

}  // namespace sdsm
