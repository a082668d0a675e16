/// Flag mode: threads hand memory over by plain loads and stores, and no lock or barrier says when. Until the next
/// barrier, many nodes may read a page, or one may read and write it; the page's home keeps the list.
///
/// When it begins. A thread waits if it is found where it was, with the same registers and stack. A thread has met
/// others when it has done an atomic operation or a fence, or has touched a page that an atomic operation has changed
/// while its node has copies of other pages, which may be older. Its next touch of memory then has to wait until all
/// are in flag mode. A thread that goes from an atomic operation straight to the barrier, as a reduction does, needs
/// none: what it stored is at home before the operation, and nobody can tell when it did the rest. So no thread that
/// has met others goes on outside of flag mode. Before they meet, only plain stores and single looks could order what
/// they do, and these are not noticed.
///
/// Why every outcome is then one of sequential consistency (as far as each processor has it): a store happens while no
/// other node can read the page, a load while no other node can write it. So all loads and stores of a page are in one
/// order, in which each load finds the last store; and a thread's next access comes after its last one has taken its
/// place in that order. No node has ever a copy that is older than what it may already have seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/ids.hpp"

namespace sdsm {

enum class FlagMode : std::uint8_t { off, until_barrier, for_good };
enum class FlagEvent : std::uint8_t {
  wait,                 ///< a thread waits for a store
  touch_after_meeting,  ///< a thread that has met others since the barrier goes on
  barrier,              ///< of all threads: everything is flushed and dropped
};

constexpr FlagMode after(FlagEvent event, FlagMode mode) {
  switch (event) {
    case FlagEvent::wait: return FlagMode::for_good;
    case FlagEvent::touch_after_meeting: return std::max(mode, FlagMode::until_barrier);
    case FlagEvent::barrier: return mode == FlagMode::for_good ? mode : FlagMode::off;
  }
  return mode;
}

/// What it means that a thread touches a page which an atomic operation has changed, on a node that has `copies` of
/// other pages. Another thread's stack holds sums of reductions beside what a thread needs to begin. A thread that
/// begins late and reads it has not met others, but must not keep older copies.
enum class Meeting : std::uint8_t { none, drops_copies, meets_others };
constexpr Meeting meeting_at(bool is_on_stack, std::uint64_t copies) {
  if (copies == 0) return Meeting::none;
  return is_on_stack ? Meeting::drops_copies : Meeting::meets_others;
}

/// What a page's home knows of changes since the last barrier when it grants the page in flag mode.
struct PageNews {
  bool was_recalled_written = false;  ///< by one whose right to write has ended, or an atomic operation changed it
  bool has_diffs = false;             ///< diffs of the page have come
  bool has_unseen_changes = false;    ///< the home's process entered flag mode with pages open that it writes unseen
  bool home_is_in_flag_mode = true;   ///< else the home does not see what its own thread stores
};
/// Whether the page may show to whom it is granted that others have stored elsewhere. A node that sees that has to
/// drop older copies of pages that their owners change unseen.
constexpr bool tells_of_stores(const PageNews& news) {
  return news.was_recalled_written || news.has_diffs || news.has_unseen_changes || !news.home_is_in_flag_mode;
}

enum class Right : std::uint8_t { none, read, write };

class PageSharing {
 public:
  /// Nobody but the home has the page.
  explicit PageSharing(NodeId home) : holders_{{home, Right::write}} {}

  /// A node that has to give up its right, and what it keeps.
  struct Loss {
    NodeId node{};
    Right kept{};
  };
  /// What other nodes have to give up before `node` may have the right `wanted`.
  std::vector<Loss> losses(NodeId node, Right wanted) const {
    std::vector<Loss> list;
    for (const Holder& holder : holders_) {
      if (holder.node == node) continue;
      if (wanted == Right::write) list.push_back({holder.node, Right::none});
      if (wanted == Right::read && holder.right == Right::write) list.push_back({holder.node, Right::read});
    }
    return list;
  }

  /// The same before the page is changed so that each thread which touches it afterwards hears of it.
  std::vector<Loss> all_losses() const {
    std::vector<Loss> list;
    for (const Holder& holder : holders_) list.push_back({holder.node, Right::none});
    return list;
  }

  /// The node has given it up.
  void lose(const Loss& loss) {
    std::erase_if(holders_, [&](const Holder& holder) { return holder.node == loss.node; });
    if (loss.kept != Right::none) holders_.push_back({loss.node, loss.kept});
  }

  /// Precondition: losses() are none.
  void grant(NodeId node, Right wanted) {
    const auto holder =
        std::find_if(holders_.begin(), holders_.end(), [&](const Holder& one) { return one.node == node; });
    if (holder == holders_.end()) {
      holders_.push_back({node, wanted});
    } else {
      holder->right = std::max(holder->right, wanted);
    }
  }

  Right right_of(NodeId node) const {
    for (const Holder& holder : holders_) {
      if (holder.node == node) return holder.right;
    }
    return Right::none;
  }

 private:
  struct Holder {
    NodeId node{};
    Right right{};
  };
  std::vector<Holder> holders_;
};

}  // namespace sdsm
