/// Compare-exchanges that come too late. The processor has no instruction that updates a floating-point number, say, in
/// memory. The program loads the word, computes, and asks the home to store the result if the word is unchanged. The
/// home refuses if another operation came between. Its reply has the word's new value, and the program tries again.
///
/// A simulation has no values. It compares moments: when the thread found the word, and when an operation last changed
/// it. Plain stores leave no moment, so they refuse nobody.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "models/ids.hpp"

namespace sdsm {

/// A moment: how many operations have changed words before it, anywhere.
using Moment = std::uint64_t;

/// An atomic operation on the word that begins at this byte of its region.
struct WordOperation {
  PageId page;
  std::uint64_t byte = 0;
  std::uint16_t words = 0;        ///< of 4 bytes that it changes
  bool compares = false;          ///< with what the thread found in it before
  std::optional<Moment> found{};  ///< of one that compares: when that was the word's value
};

class ComparedWords {
 public:
  Moment now() const { return changes_; }

  /// The home does the operation and returns nothing, or refuses it and returns the moment of what its reply says.
  std::optional<Moment> operate(const WordOperation& operation) {
    const auto word = std::pair(operation.page.region, operation.byte);
    if (operation.found) {
      const auto last = last_change_.find(word);
      if (last != last_change_.end() && last->second > *operation.found) return changes_;
    }
    if (operation.words == 0) return std::nullopt;
    last_change_[word] = ++changes_;
    pages_.insert(operation.page);
    return std::nullopt;
  }

  /// The node gets a copy of the page as it is now.
  void copy(NodeId node, PageId page) {
    if (pages_.contains(page)) copies_[{page, node}] = changes_;
  }
  /// The moment of the node's copy; 0, before all changes, if no operation had changed the page by then.
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
