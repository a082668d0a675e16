/// Turns of threads in single-writer mode (page_sharing.hpp), in which one node alone may write a page. Threads that
/// store all over the same pages take these from each other at each store. Turns help: a thread that has lost and
/// fetched its pages again and again asks for a turn, fetches all of them in it and goes on, while other such threads
/// wait. A turn decides when a thread asks, never what it gets: without turns the program is as right, only slower.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <unordered_map>

#include "models/ids.hpp"

namespace sdsm {

/// The pages that a process has lost to other nodes since its thread last came to a synchronisation. A thread that
/// hands on pages by locks or atomic operations loses each about once between two of them.
class LostPages {
 public:
  void lose(std::uintptr_t page) { is_away_[page] = true; }
  void forget() {
    is_away_.clear();
    fetched_again_ = ns_each_ = 0;
  }

  /// The thread wants the page now. Returns the length in ns of the turn that it needs, twice what fetching all its
  /// pages took before its first turn. 0: it needs none.
  std::uint64_t want(std::uintptr_t page, std::uint64_t now_ns) {
    const auto found = is_away_.find(page);
    if (found == is_away_.end() || !found->second) return 0;
    found->second = false;
    if (++fetched_again_ == 1) begun_ns_ = now_ns;
    const std::size_t pages = is_away_.size();
    if (fetched_again_ < std::max(least, times_each * pages)) return 0;
    if (ns_each_ == 0) ns_each_ = (now_ns - begun_ns_) / fetched_again_ + 1;
    return std::min(2 * pages * ns_each_, longest_ns);
  }

 private:
  static constexpr std::size_t least = 16, times_each = 2;
  static constexpr std::uint64_t longest_ns = 1'000'000'000;

  std::unordered_map<std::uintptr_t, bool> is_away_;
  std::size_t fetched_again_ = 0;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t ns_each_ = 0;  ///< that a page took, when the thread first needed a turn; 0: it has not
};

/// The queue of turns. Times are in ns of one clock.
class PageTurns {
 public:
  /// The node asks for a turn of that length. A turn that it waits for or has already serves instead. Returns the time
  /// until the turn begins; 0: it has begun.
  std::uint64_t ask(NodeId node, std::uint64_t length_ns, std::uint64_t now_ns) {
    for (; !turns_.empty() && begun_ns_ + turns_.front().length_ns <= now_ns; turns_.pop_front()) {
      begun_ns_ += turns_.front().length_ns;
    }
    if (turns_.empty()) begun_ns_ = now_ns;
    auto own = find(node);
    if (own == turns_.end()) own = turns_.insert(own, {node, length_ns});
    const std::uint64_t begins = std::accumulate(
        turns_.begin(), own, begun_ns_, [](std::uint64_t sum, const Turn& before) { return sum + before.length_ns; });
    return begins > now_ns ? begins - now_ns : 0;
  }

  /// The node needs its turn no longer.
  void end(NodeId node, std::uint64_t now_ns) {
    const auto own = find(node);
    if (own == turns_.end()) return;
    if (own == turns_.begin()) begun_ns_ = now_ns;
    turns_.erase(own);
  }

 private:
  struct Turn {
    NodeId node{};
    std::uint64_t length_ns = 0;
  };
  std::deque<Turn>::iterator find(NodeId node) {
    return std::find_if(turns_.begin(), turns_.end(), [&](const Turn& turn) { return turn.node == node; });
  }

  std::deque<Turn> turns_;  ///< the first one is under way
  std::uint64_t begun_ns_ = 0;
};

}  // namespace sdsm
