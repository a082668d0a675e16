/// The monotonic clock, which all processes of one machine share, and the calling thread's own.
#pragma once

#include <cerrno>
#include <cstdint>

#include "native/guest/runtime/nanoseconds.hpp"

namespace sdsm::dsm {

inline std::uint64_t now_ns() {
  return program::read_ns(CLOCK_MONOTONIC);
}
inline std::uint64_t processor_time_ns() {
  return program::read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/// A thread that waits for a moment of the emulation wakes up this long before it, and then watches the clock: a
/// sleeping processor, above all a virtual one, may take so long to wake (docs/decisions/008-emulated-time.md).
constexpr std::uint64_t wake_up_ns = 60'000;

inline void wait_until(std::uint64_t due_ns) {
  const std::uint64_t woken_ns = due_ns - wake_up_ns;
  if (now_ns() < woken_ns) {
    const timespec due = program::timespec_of(woken_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
    }
  }
  while (now_ns() < due_ns) __builtin_ia32_pause();
}

}  // namespace sdsm::dsm
