/// Single-writer mode: threads hand memory over by plain loads and stores, and no lock or barrier says when. Until the
/// next barrier many nodes may read a page, or one may read and write it. The page's home lists them.
///
/// When it begins. Single-writer mode begins when a thread waits or has met others.
/// - A thread waits if the run-time finds it where it was, with the same registers and stack.
/// - A thread has met others after an atomic operation or a fence. It has met them, too, when it touches a page that an
///   atomic operation has changed, if its node has copies of other pages then, as these may be older.
/// A thread that has met others stops at its next touch of memory until all are in single-writer mode. So none goes on
/// outside of it. A thread that goes from an atomic operation straight to the barrier, as a reduction does, needs no
/// single-writer mode: its stores are at home before the operation, and nobody can tell when it did the rest. Before
/// threads meet, only plain stores and single loads could order what they do. The run-time does not notice these.
///
/// Why every outcome is then sequentially consistent (as far as each processor is): a store happens while no other node
/// can read the page, a load while no other node can write it. So all loads and stores of a page have one order, in
/// which each load finds the last store. A thread makes its next access only once its last one has its place there.
/// No node ever has a copy that is older than what it may already have seen.
///
/// Stacks and thread-local variables are an exception. Their processes have them open for good, as the kernel and the
/// run-time use them at any time, so a store there goes unnoticed. It may be the last of several that others have to
/// see in order. So
/// - a node that fetches a page of a stack keeps no older copy of another stack page (the home compares those of pages
///   that are its own);
/// - a node sends home its changes to others' stacks before another node gets a page of its own stack, a page that it
///   downgrades, or the outcome of an atomic operation on its stack;
/// - at any time a node has changed at most one page of others' stacks;
/// - threads that could see a part of a change are stopped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/atomics.hpp"
#include "models/ids.hpp"
#include "models/protocol/pages.hpp"
#include "models/scash/page_state.hpp"

namespace sdsm {

enum class SingleWriterMode : std::uint8_t { off, until_barrier, for_good };
enum class SingleWriterEvent : std::uint8_t {
  wait,                 ///< a thread waits for a store
  touch_after_meeting,  ///< a thread that has met others since the barrier goes on
  barrier,              ///< of all threads: everything is flushed and dropped
};

constexpr SingleWriterMode after(SingleWriterEvent event, SingleWriterMode mode) {
  switch (event) {
    case SingleWriterEvent::wait: return SingleWriterMode::for_good;
    case SingleWriterEvent::touch_after_meeting: return std::max(mode, SingleWriterMode::until_barrier);
    case SingleWriterEvent::barrier: return mode == SingleWriterMode::for_good ? mode : SingleWriterMode::off;
  }
  return mode;
}

/// Whether a thread that has met others enters single-writer mode before it goes on. `has_peers`: other threads run the
/// program, too. The processes of one node have all memory in common.
constexpr bool is_single_writer_mode_due(SingleWriterMode mode, bool has_peers, std::uint32_t nodes) {
  return mode == SingleWriterMode::off && has_peers && nodes > 1;
}

/// Whether single-writer mode begins before an operation that orders memory, and not after it: processes of one node
/// see each other's operations at once. `processes`: of a node.
constexpr bool begins_before_operation(std::uint32_t processes) {
  return processes > 1;
}

/// What follows when a thread touches a page that an atomic operation has changed. `copies`: how many the node has of
/// others' pages, this one among them if it `is_copy`; `processes`: of the node. Stacks are an exception: a thread's
/// stack holds sums of reductions beside data that other threads read when they begin a region. A thread that begins
/// late and reads such data has not met others by that, but must not keep older copies. Several processes of a node
/// would drop each other's copies in turn: there the thread has met others.
enum class Meeting : std::uint8_t { none, drops_copies, meets_others };
constexpr Meeting meeting_at(bool is_on_stack, std::uint64_t copies, bool is_copy, std::uint32_t processes) {
  if (copies == (is_copy ? 1 : 0)) return Meeting::none;
  return is_on_stack && processes == 1 ? Meeting::drops_copies : Meeting::meets_others;
}

/// A synchronisation between barriers sends home what a node has changed in some copies, and drops these if it takes a
/// lock. In single-writer mode a copy is downgraded before others change the page, so synchronisations leave it, except
/// copies of stacks, whose owners have them open for good.
enum class Concerned : std::uint8_t { none, stack_copies, all_copies };
constexpr Concerned concerned_by_sync(SingleWriterMode mode, bool has_stack_copies) {
  if (mode == SingleWriterMode::off) return Concerned::all_copies;
  return has_stack_copies ? Concerned::stack_copies : Concerned::none;
}
/// The kind of synchronisation whose rule decides which changes go home. In single-writer mode a process of the same
/// node may have announced its changes to the thread by a plain store.
constexpr Sync flushed_as(Sync sync, SingleWriterMode mode) {
  return mode == SingleWriterMode::off ? sync : Sync::acquire;
}

/// Whether the threads of a node send their changes at the same time, and the node may enter single-writer mode
/// meanwhile. Unless all threads are at the barrier, one may read what is at home so far. A thread outside of a gang
/// may wait for a value that a member stored, and find it at home while an earlier store of the member is not there
/// yet.
constexpr bool sends_while_others_go_on(Sync sync, SingleWriterMode mode) {
  return sync == Sync::barrier && mode == SingleWriterMode::off;
}

/// Whether the threads of a node are stopped while a page is copied for another node, changed by one, or compared with
/// its twin. A stack is open to them meanwhile, and a thread that waits for plain stores may see one of several stores
/// and load the others. `is_at_once`: nobody can see a part of the change.
constexpr bool stops_the_world(SingleWriterMode mode, bool is_open_stack, bool is_at_once) {
  return mode != SingleWriterMode::off && is_open_stack && !is_at_once;
}

enum class Right : std::uint8_t { none, read, write };
constexpr Right right_for(Access access) {
  return access == Access::write ? Right::write : Right::read;
}

/// Whether the page's home lists who has it, and so a request waits until others have downgraded it. Outside of
/// single-writer mode another node's request is an ordinary fault's, and does not wait.
constexpr bool needs_list(bool is_on_stack, bool is_from_own_node, bool is_listed,
                          bool is_asked_in_single_writer_mode) {
  if (is_on_stack) return false;
  return is_from_own_node ? is_listed : is_asked_in_single_writer_mode;
}

/// Whether what a node has changed in others' stacks goes home before this access. Changes of several stacks go to
/// several homes, or one after the other. Nobody knows which change is the last, and a thread that sees the last one
/// has to see the others, too. So in single-writer mode a node may have changed only one page of others' stacks.
/// `makes_no_progress`: the instruction has faulted on this page before, as it needs several at once.
constexpr bool sends_other_stacks_first(SingleWriterMode mode, Access access, bool is_copy_of_stack,
                                        bool makes_no_progress) {
  return mode != SingleWriterMode::off && access == Access::write && is_copy_of_stack && !makes_no_progress;
}

/// Whether a node that fetches a page of a stack keeps its copies of other stack pages, even if their homes have
/// changed them since. Otherwise an instruction that needs several of them would fetch them in turn for ever.
constexpr bool keeps_older_stack_copies(bool is_copy_of_stack, bool makes_no_progress) {
  return is_copy_of_stack && makes_no_progress;
}

/// Whether a node asks for a page only when no copy of another stack page is on its way to it. A copy that is asked for
/// later must not be older than one asked for earlier.
constexpr bool is_asked_for_alone(SingleWriterMode mode, bool is_copy_of_stack) {
  return mode != SingleWriterMode::off && is_copy_of_stack;
}

/// Whether a page goes to another node only after the home's node has sent home what it changed in others' stacks. The
/// home's thread stores to its own stack without a fault, and may have done so after those changes.
constexpr bool serves_behind_stacks(SingleWriterMode mode, bool is_own_stack) {
  return mode != SingleWriterMode::off && is_own_stack;
}
/// Whether an atomic operation's outcome, too, goes to another node only after these changes are at home. The thread
/// that gets the outcome can read its own stack without a fault, and so before single-writer mode begins.
constexpr bool tells_behind_stacks(Atomics atomics, bool is_own_stack) {
  return atomics != Atomics::relaxed && is_own_stack;
}

/// An atomic operation is about to be done at its page's home.
struct OperationAtHome {
  bool orders_memory = true;
  bool is_on_stack = false;    ///< its home's process has the page open for good
  bool is_home_alone = false;  ///< by the home's own thread, while no other node may use the page
  bool is_in_single_writer_mode = false;
};
/// The nodes from which an atomic operation takes the page.
enum class Taken : std::uint8_t {
  nothing,      ///< from nobody
  mark,         ///< from nobody, but a node that fetches a copy from now on learns of it
  from_others,  ///< from all other nodes; the home's node keeps it
  from_all,     ///< each thread's next touch asks the home, and learns of it
};
constexpr Taken taken_by(const OperationAtHome& operation) {
  if (operation.is_home_alone && (operation.is_in_single_writer_mode || !operation.orders_memory))
    return Taken::nothing;
  if (operation.is_on_stack) return operation.orders_memory ? Taken::mark : Taken::nothing;
  return operation.orders_memory ? Taken::from_all : Taken::from_others;
}

/// Whether the thread that asks for an atomic operation keeps its node's copy of the page. The copy may stay: its only
/// thread waits for the outcome, and finds it in the copy, and no other node writes the page without taking the copy
/// first. Local peers would see the old value until the outcome comes. Copies of stacks go at each operation.
constexpr bool keeps_copy_at_operation(bool is_in_single_writer_mode, std::uint32_t processes, bool is_on_stack) {
  return is_in_single_writer_mode && processes == 1 && !is_on_stack;
}
/// Whether the node does the operation in the copy that it keeps, without the home: while it may write the page, no
/// other node can use it.
constexpr bool operates_in_copy(bool keeps_copy, Permission copy) {
  return keeps_copy && copy == Permission::read_write;
}

class PageSharing {
 public:
  /// The home alone has the page.
  explicit PageSharing(NodeId home) : holders_{{home, Right::write}} {}

  /// A node that has to downgrade the page, and the right that it keeps.
  struct Loss {
    NodeId node{};
    Right kept{};
  };
  /// The downgrades of other nodes before `node` may have the right `wanted`.
  std::vector<Loss> losses(NodeId node, Right wanted) const {
    std::vector<Loss> list;
    for (const Holder& holder : holders_) {
      if (holder.node == node) continue;
      if (wanted == Right::write) list.push_back({holder.node, Right::none});
      if (wanted == Right::read && holder.right == Right::write) list.push_back({holder.node, Right::read});
    }
    return list;
  }

  /// The downgrades of all nodes, the home too, before an atomic operation for node `by`: each next touch then asks the
  /// home. `keeps_copy`: but for `by`, whose only thread waits for the outcome and sees it in its copy.
  std::vector<Loss> losses_to_operation(NodeId home, NodeId by, bool keeps_copy) const {
    std::vector<Loss> list;
    for (const Holder& holder : holders_) {
      if (!keeps_copy || holder.node != by) {
        list.push_back({holder.node, Right::none});
      } else if (by != home && holder.right == Right::write) {
        list.push_back({holder.node, Right::read});
      }
    }
    return list;
  }

  /// Notes a change, by a node that has lost the right to write the page, or by an atomic operation.
  void note_change() { is_changed_ = true; }
  bool is_changed() const { return is_changed_; }

  /// The node has downgraded the page.
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
  bool is_changed_ = false;
};

}  // namespace sdsm
