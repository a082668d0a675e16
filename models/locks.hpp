/// Numbers of flags, and which process keeps a lock or a flag.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "models/ids.hpp"

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

/// Process that keeps a lock's queue (docs/protocol.md).
constexpr ProcessId manager_of(LockId lock, std::uint32_t processes) {
  return ProcessId{index_of(lock) % processes};
}

/// Who has a lock of the program, and who waits for it. A `Waiter` has an optional `turn`: the number that its grant
/// must have among the lock's, from 0.
template <typename Waiter>
class LockQueue {
 public:
  /// Nobody has it or has asked for it.
  bool is_free() const { return !is_held_ && queue_.empty(); }

  void ask(Waiter waiter) { queue_.push_back(std::move(waiter)); }
  /// Behind all that it does not come before.
  template <typename Before>
  void ask(Waiter waiter, Before comes_before) {
    auto place = queue_.end();
    while (place != queue_.begin() && comes_before(waiter, *std::prev(place))) --place;
    queue_.insert(place, std::move(waiter));
  }

  /// Who has it now: whoever came first, but an ordered region (OpenMP 5.0, 2.17.9) goes in its turn. Nobody, if it is
  /// held or none of those that wait may go on yet.
  std::optional<Waiter> grant_next() {
    if (is_held_) return {};
    const auto next =
        std::ranges::find_if(queue_, [&](const Waiter& waiter) { return waiter.turn.value_or(grants_) == grants_; });
    if (next == queue_.end()) return {};
    std::optional<Waiter> granted = std::move(*next);
    queue_.erase(next);
    is_held_ = true;
    ++grants_;
    return granted;
  }
  void give_back() { is_held_ = false; }

 private:
  bool is_held_ = false;
  std::uint64_t grants_ = 0;
  std::deque<Waiter> queue_;
};

}  // namespace sdsm
