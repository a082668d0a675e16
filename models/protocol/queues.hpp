/// The queues of locks, flags and other objects that threads wait for, as their managers keep them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "models/ids.hpp"
#include "models/program/demand.hpp"

namespace sdsm {

/// First come, first served, among those that may go on.
template <typename Waiter>
class WaitingList {
 public:
  bool empty() const { return waiters_.empty(); }
  void add(Waiter waiter) { waiters_.push_back(std::move(waiter)); }
  /// Adds the waiter behind all that it does not precede.
  template <typename Before>
  void add(Waiter waiter, Before comes_before) {
    auto place = waiters_.end();
    while (place != waiters_.begin() && comes_before(waiter, *std::prev(place))) --place;
    waiters_.insert(place, std::move(waiter));
  }
  /// Takes out the first that `may_go_on`.
  template <typename MayGoOn>
  std::optional<Waiter> take_first(MayGoOn may_go_on) {
    const auto first = std::ranges::find_if(waiters_, may_go_on);
    if (first == waiters_.end()) return {};
    std::optional<Waiter> taken = std::move(*first);
    waiters_.erase(first);
    return taken;
  }

 private:
  std::deque<Waiter> waiters_;
};

/// What a thread posts to a flag.
struct FlagPost {
  std::optional<std::uint64_t> count;  ///< the new count; nothing: one more
  std::int32_t given_back = 0;         ///< what a Demand on an object added when it was taken
};
/// What a thread waits for at a flag.
struct FlagWait {
  static constexpr Demand nothing{0, 0};

  std::uint64_t until = 0;  ///< least count at which the wait ends
  bool comes = false;       ///< the waiting thread counts, too
  Demand demand = nothing;  ///< on an object that is taken and given back
};

/// A flag of a doacross loop, or in a simulation an object of the C library: it has a count, and a number for demands.
/// A Waiter has a FlagWait `wait`.
template <typename Waiter>
class Flag {
 public:
  /// ask() and post() return the waiters that may go on now.
  std::vector<Waiter> ask(Waiter waiter) {
    if (waiter.wait.comes) ++count_;
    waiting_.add(std::move(waiter));
    return take_ready();
  }
  std::vector<Waiter> post(const FlagPost& posted) {
    count_ = posted.count.value_or(count_ + 1);
    number_ -= posted.given_back;
    return take_ready();
  }

 private:
  bool lets_go_on(const FlagWait& wait) const {
    return count_ >= wait.until && (wait.demand == FlagWait::nothing || wait.demand.can_be_met(number_));
  }
  std::vector<Waiter> take_ready() {
    std::vector<Waiter> ready;
    while (auto next = waiting_.take_first([this](const Waiter& waiter) { return lets_go_on(waiter.wait); })) {
      number_ += next->wait.demand.add;
      ready.push_back(std::move(*next));
    }
    return ready;
  }

  std::uint64_t count_ = 0;
  std::int64_t number_ = 0;
  WaitingList<Waiter> waiting_;
};

/// A lock of the program: its holder and its waiters. A Waiter is of process `by`, and has an optional `turn`: the
/// number that its grant must have among the lock's, from 0.
template <typename Waiter>
class LockQueue {
 public:
  /// Claims the lock for `by`, which only tries to take it, and whose request has still to come. False if another has
  /// it, has claimed it or has asked for it. A release by `by` itself may still be on its way.
  bool claim(ProcessId by) {
    if (!waiting_.empty() || claimed_by_.value_or(by) != by || (is_held_ && holder_ != by)) return false;
    claimed_by_ = by;
    return true;
  }
  /// Takes back a claim for which no request is on its way.
  void disclaim() { claimed_by_.reset(); }
  bool is_claimed() const { return claimed_by_.has_value(); }
  bool is_held_by(ProcessId by) const { return is_held_ && holder_ == by; }

  /// Queues the waiter, behind all that it does not precede.
  template <typename... Before>
  void ask(Waiter waiter, Before... comes_before) {
    waiting_.add(std::move(waiter), comes_before...);
  }

  /// Grants the lock to the process that has claimed it, else to the first waiter, but an ordered region (OpenMP 5.0,
  /// 2.17.9) goes in its turn. Empty if the lock is held, or no waiter may go on yet.
  std::optional<Waiter> grant_next() {
    if (is_held_) return {};
    std::optional<Waiter> next = waiting_.take_first([this](const Waiter& waiter) {
      return claimed_by_ ? waiter.by == *claimed_by_ : waiter.turn.value_or(grants_) == grants_;
    });
    if (!next) return {};
    is_held_ = true;
    holder_ = next->by;
    claimed_by_.reset();
    ++grants_;
    return next;
  }
  void give_back() { is_held_ = false; }
  /// Replaces the holder before it has received its grant.
  void hand_to(ProcessId by) { holder_ = by; }

 private:
  bool is_held_ = false;
  ProcessId holder_{};  ///< the last one
  std::optional<ProcessId> claimed_by_;
  std::uint64_t grants_ = 0;
  WaitingList<Waiter> waiting_;
};

}  // namespace sdsm
