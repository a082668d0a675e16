/// Numbers of flags, and which process keeps a lock or a flag.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

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

/// Which of those that ask for a lock is granted it next, when it has been granted so often: whoever came first, but an
/// ordered region (OpenMP 5.0, 2.17.9) goes in its turn. The queue's end if nobody may go on yet. Each has a `turn`.
template <typename Queue>
auto next_in_turn(Queue& queue, std::uint64_t grants) {
  return std::ranges::find_if(queue, [=](const auto& waiter) { return waiter.turn.value_or(grants) == grants; });
}

}  // namespace sdsm
