/// Locks and other objects of the C library as one kind of thing: a number, 0 at first. A thread that takes an object
/// waits until the number plus `add` is at most `limit`, then adds; who gives it back subtracts.
#pragma once

#include <cstdint>

namespace sdsm {

struct Demand {
  std::int32_t add = 1;
  std::int32_t limit = 1;

  /// Whether the object has one holder then.
  constexpr bool is_exclusive() const { return add == limit; }
  constexpr bool can_be_met(std::int64_t number) const { return number + add <= limit; }
  constexpr bool operator==(const Demand&) const = default;
};
inline constexpr Demand mutex_demand{1, 1};
inline constexpr Demand semaphore_demand{1, 0};  ///< the number is minus the semaphore's value
inline constexpr Demand writer_demand{1 << 30, 1 << 30};
inline constexpr Demand reader_demand{1, (1 << 30) - 1};

}  // namespace sdsm
