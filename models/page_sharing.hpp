/// Flag mode: threads hand memory over by plain loads and stores, and no lock or barrier says when. Until the next
/// barrier many nodes may read a page, or one may read and write it. The page's home keeps the list.
///
/// When it begins. Flag mode begins when a thread waits or has met others.
/// - A thread waits if the run-time finds it where it was, with the same registers and stack.
/// - A thread has met others after an atomic operation or a fence. It has met them, too, when it touches a page that an
///   atomic operation has changed while its node has copies of other pages: these may be older.
/// A thread that has met others stops at its next touch of memory until all are in flag mode. So none goes on outside
/// of it. A thread that goes from an atomic operation straight to the barrier, as a reduction does, needs no flag mode:
/// its stores are at home before the operation, and nobody can tell when it did the rest. Before threads meet, only
/// plain stores and single looks could order what they do. The run-time does not notice these.
///
/// Why every outcome is then sequentially consistent (as far as each processor is): a store happens while no other node
/// can read the page, a load while no other node can write it. So all loads and stores of a page have one order, in
/// which each load finds the last store. A thread's next access follows when its last one has its place in that order.
/// No node ever has a copy that is older than what it may already have seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/ids.hpp"
#include "models/protocol/pages.hpp"

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

/// Whether a thread that has met others enters flag mode before it goes on. `has_company`: other threads run the
/// program, too. The processes of one node have all memory in common.
constexpr bool is_flag_mode_due(FlagMode mode, bool has_company, std::uint32_t nodes) {
  return mode == FlagMode::off && has_company && nodes > 1;
}

/// Whether flag mode begins before an operation that orders memory, and not behind it. Companions see each other's
/// operations at once. `processes`: of a node.
constexpr bool begins_before_operation(std::uint32_t processes) {
  return processes > 1;
}

/// What follows when a thread touches a page that an atomic operation has changed. `copies`: what the node has of
/// others' pages, this one among them if it `is_copy`; `processes`: of the node. Stacks are an exception: a thread's
/// stack holds sums of reductions beside what other threads read to begin. Who begins late and reads that has not met
/// others, but must not keep older copies. Companions would drop each other's copies in turn.
enum class Meeting : std::uint8_t { none, drops_copies, meets_others };
constexpr Meeting meeting_at(bool is_on_stack, std::uint64_t copies, bool is_copy, std::uint32_t processes) {
  if (copies == (is_copy ? 1 : 0)) return Meeting::none;
  return is_on_stack && processes == 1 ? Meeting::drops_copies : Meeting::meets_others;
}

/// A synchronisation between barriers sends home what a node has changed in some copies, and drops these if it takes a
/// lock. In flag mode a copy is given up before others change the page, so synchronisations leave it. Not so copies of
/// stacks, whose owners have them open for good.
enum class Concerned : std::uint8_t { none, stack_copies, all_copies };
constexpr Concerned concerned_by_sync(FlagMode mode, bool has_stack_copies) {
  if (mode == FlagMode::off) return Concerned::all_copies;
  return has_stack_copies ? Concerned::stack_copies : Concerned::none;
}
/// Whose changes go home then. In flag mode a companion may have told the thread by a plain store what it has changed
/// before.
constexpr Sync flushed_as(Sync sync, FlagMode mode) {
  return mode == FlagMode::off ? sync : Sync::acquire;
}

/// What a page's home knows of changes since the last barrier when it grants the page.
struct PageNews {
  bool was_recalled_written = false;  ///< by one whose right to write has ended, or an atomic operation changed it
  bool has_diffs = false;             ///< diffs of the page have come
  bool has_unseen_changes = false;    ///< the home's process entered flag mode with pages open that it writes unseen
  bool home_is_in_flag_mode = true;   ///< else the home does not see what its own thread stores
};
/// Whether the page's content may tell its new holder that others have stored elsewhere. In flag mode a node that
/// learns so has to drop older copies of pages that their owners change unseen. Before it begins,
/// operations on the page count alone (meeting_at()).
constexpr bool tells_of_stores(const PageNews& news, bool is_asked_in_flag_mode) {
  if (!is_asked_in_flag_mode) return news.was_recalled_written;
  return news.was_recalled_written || news.has_diffs || news.has_unseen_changes || !news.home_is_in_flag_mode;
}

enum class Right : std::uint8_t { none, read, write };
constexpr Right right_for(Access access) {
  return access == Access::write ? Right::write : Right::read;
}

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

  /// What all nodes, the home too, give up before an atomic operation: each thread's next touch then asks the home.
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
