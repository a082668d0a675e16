#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "models/demand.hpp"

namespace sdsm::sim {

/// What a thread tells of a flag.
struct FlagPost {
  std::optional<std::uint64_t> count;  ///< what it counts now; nothing: one more
  std::int32_t given_back = 0;         ///< of a Demand's object: what was added when it was taken
};
/// What a thread waits for.
struct FlagWait {
  static constexpr Demand nothing{0, 0};

  std::uint64_t until = 0;  ///< the flag counts so far
  bool comes = false;       ///< who asks counts, too
  Demand demand = nothing;  ///< of an object that is taken and given back
};

/// A flag of a doacross loop or an object of the C library: it counts, and has the number that demands are for. First
/// come, first served, among those that may go on. A Waiter has a FlagWait `wait`.
template <typename Waiter>
class Flag {
 public:
  /// Both return who may go on now.
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
