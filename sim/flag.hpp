#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "models/program/demand.hpp"

namespace sdsm::sim {

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

/// A flag of a doacross loop or an object of the C library: it has a count, and a number for demands. Among the waiters
/// that may go on, the first to come goes first. A Waiter has a FlagWait `wait`.
template <typename Waiter>
class Flag {
 public:
  /// ask() and post() return the waiters that may go on now.
  std::vector<Waiter> ask(Waiter waiter) {
    if (waiter.wait.comes) ++count_;
    waiting_.push_back(std::move(waiter));
    return take_ready();
  }
  std::vector<Waiter> post(const FlagPost& posted) {
    count_ = posted.count.value_or(count_ + 1);
    number_ -= posted.given_back;
    return take_ready();
  }

 private:
  bool lets_go_on(const FlagWait& wait) {
    if (count_ < wait.until) return false;
    if (wait.demand == FlagWait::nothing) return true;
    if (!wait.demand.can_be_met(number_)) return false;
    number_ += wait.demand.add;
    return true;
  }
  std::vector<Waiter> take_ready() {
    const auto ready = std::stable_partition(waiting_.begin(), waiting_.end(),
                                             [this](const Waiter& waiter) { return !lets_go_on(waiter.wait); });
    std::vector<Waiter> taken(std::make_move_iterator(ready), std::make_move_iterator(waiting_.end()));
    waiting_.erase(ready, waiting_.end());
    return taken;
  }

  std::uint64_t count_ = 0;
  std::int64_t number_ = 0;
  std::vector<Waiter> waiting_;
};

}  // namespace sdsm::sim
