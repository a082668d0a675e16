/// Locks and other objects of the C library as one kind of thing: a number, 0 at first. A thread that takes an object
/// waits until the number plus `add` is at most `limit`, then adds; a release subtracts.
#pragma once

#include <array>
#include <cstddef>
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

/// The meaning of an object's number.
enum class Counted : std::uint8_t {
  holders,  ///< of a mutex or spin lock
  permits,  ///< of a semaphore, taken from 0
  readers,  ///< or a writer
  parties,  ///< that meet at a barrier
};
inline constexpr std::size_t counted_kinds = 4;

constexpr Counted counted_by(const Demand& demand) {
  if (demand == mutex_demand) return Counted::holders;
  return demand == semaphore_demand ? Counted::permits : Counted::readers;
}

/// The numbers of the objects at an address. An object may follow one of another kind that nobody has destroyed, as the
/// C library has nothing to free. So each kind has its own number: a mutex that needs no call to begin is not held
/// there.
class Numbers {
 public:
  std::int32_t& operator[](Counted what) { return numbers_[static_cast<std::size_t>(what)]; }
  std::int32_t operator[](Counted what) const { return numbers_[static_cast<std::size_t>(what)]; }
  bool allow(const Demand& demand) const { return demand.can_be_met((*this)[counted_by(demand)]); }
  void add(const Demand& demand) { (*this)[counted_by(demand)] += demand.add; }
  void subtract(const Demand& demand) { (*this)[counted_by(demand)] -= demand.add; }

 private:
  std::array<std::int32_t, counted_kinds> numbers_{};
};

}  // namespace sdsm
