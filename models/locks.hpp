/// Numbers of flags, and which process keeps a lock, a flag or a barrier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "models/ids.hpp"
#include "models/program/events.hpp"

namespace sdsm {

/// A flag of a doacross loop: the construct's number in the upper half, in the lower one the part of the loop's
/// iterations that it counts. In a static schedule a part is a thread's share, and its own process keeps the flag.
constexpr std::uint64_t flag_number(std::uint64_t construct, std::uint64_t part) {
  return construct << 32 | part;
}
/// A library's object counts like a flag. No construct has so high a number.
constexpr std::uint64_t flag_of(LockId object) {
  return std::uint64_t{1} << 63 | index_of(object);
}
constexpr ProcessId manager_of_flag(std::uint64_t flag, std::uint32_t processes) {
  return ProcessId{static_cast<std::uint32_t>(flag & 0xffffffffU) % processes};
}

/// The process that keeps a lock's queue (docs/protocol.md).
constexpr ProcessId manager_of(LockId lock, std::uint32_t processes) {
  return ProcessId{index_of(lock) % processes};
}

inline constexpr ProcessId barrier_master{0};  ///< at which a team's threads meet

/// The locks that the initial thread keeps while it runs alone, outside of parallel regions. Nobody can want one, or
/// see what its holder stored, before the next fork, whose barrier flushes all. So the thread asks a lock's manager
/// once, and takes and releases the lock from then on without a message, a flush or a drop.
class KeptLocks {
 public:
  /// Whether a lock may stay with the thread. The manager counts the turns of ordered regions.
  static constexpr bool may_keep(LockId lock) { return lock != ordered_lock; }
  /// The thread releases the lock, and keeps it.
  void keep(LockId lock) { locks_.insert(lock); }
  /// Takes the lock. False if the thread does not keep it.
  bool take(LockId lock) { return locks_.erase(lock) > 0; }
  /// Returns the locks to give back to their managers, as the thread stops being alone.
  std::set<LockId> give_all() { return std::exchange(locks_, {}); }

 private:
  std::set<LockId> locks_;
};

/// The queue of a lock of the program: its holder and its waiters. A `Waiter` is of process `by`, and has an optional
/// `turn`: the number that its grant must have among the lock's, from 0.
template <typename Waiter>
class LockQueue {
 public:
  /// Claims the lock for `by`, which only tries to take it, and whose request has still to come. False if another has
  /// it, has claimed it or has asked for it. A release by `by` itself may still be on its way.
  bool claim(ProcessId by) {
    if (!queue_.empty() || claimed_by_.value_or(by) != by || (is_held_ && holder_ != by)) return false;
    claimed_by_ = by;
    return true;
  }
  /// Takes back a claim for which no request is on its way.
  void disclaim() { claimed_by_.reset(); }
  bool is_claimed() const { return claimed_by_.has_value(); }
  bool is_held_by(ProcessId by) const { return is_held_ && holder_ == by; }

  void ask(Waiter waiter) { queue_.push_back(std::move(waiter)); }
  /// Queues the waiter, after all that it does not precede.
  template <typename Before>
  void ask(Waiter waiter, Before comes_before) {
    auto place = queue_.end();
    while (place != queue_.begin() && comes_before(waiter, *std::prev(place))) --place;
    queue_.insert(place, std::move(waiter));
  }

  /// Grants the lock to the process that has claimed it, else to the first waiter, but an ordered region (OpenMP 5.0,
  /// 2.17.9) goes in its turn. Empty if the lock is held, or no waiter may go on yet.
  std::optional<Waiter> grant_next() {
    if (is_held_) return {};
    const auto next = std::ranges::find_if(queue_, [&](const Waiter& waiter) {
      return claimed_by_ ? waiter.by == *claimed_by_ : waiter.turn.value_or(grants_) == grants_;
    });
    if (next == queue_.end()) return {};
    std::optional<Waiter> granted = std::move(*next);
    queue_.erase(next);
    is_held_ = true;
    holder_ = granted->by;
    claimed_by_.reset();
    ++grants_;
    return granted;
  }
  void give_back() { is_held_ = false; }
  /// Replaces the holder before it has received its grant.
  void hand_to(ProcessId by) { holder_ = by; }

 private:
  bool is_held_ = false;
  ProcessId holder_{};  ///< the last one
  std::optional<ProcessId> claimed_by_;
  std::uint64_t grants_ = 0;
  std::deque<Waiter> queue_;
};

}  // namespace sdsm
