/// Clocks that a program reads.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/program/events.hpp"

namespace sdsm {

/// The function by which the program read a clock; system_clock and steady_clock are C++'s.
enum class ClockSource : std::uint8_t {
  omp_get_wtime,
  clock_gettime,
  gettimeofday,
  timespec_get,
  time,
  clock,
  system_clock,
  steady_clock,
  fortran_system_clock,
  fortran_cpu_time,
  fortran_date_and_time,
  times,
  getrusage,
};

constexpr std::string_view name_of(ClockSource source) {
  constexpr std::array<std::string_view, 13> names{"omp_get_wtime",
                                                   "clock_gettime",
                                                   "gettimeofday",
                                                   "timespec_get",
                                                   "time",
                                                   "clock",
                                                   "std::chrono::system_clock",
                                                   "std::chrono::steady_clock",
                                                   "system_clock",
                                                   "cpu_time",
                                                   "date_and_time",
                                                   "times",
                                                   "getrusage"};
  return name_in(names, source);
}

/// The measured region lies between the initial thread's first and last reading of its clocks of the highest rank.
/// Clocks that programs use for seeds, or that tell something else than the time, have the lowest rank.
constexpr unsigned rank_of(ClockSource source) {
  using enum ClockSource;
  if (source == omp_get_wtime) return 2;
  return source == time || source == times || source == getrusage ? 0 : 1;
}

/// Whether the event is a reading of a clock of this rank.
constexpr bool bounds_region(const Event& event, unsigned rank) {
  return event.kind == EventKind::clock && rank_of(static_cast<ClockSource>(event.detail)) == rank;
}

/// Latest date that a program's clock can show: in the year 2242, whose nanoseconds since 1970 fit 63 bits.
inline constexpr std::uint64_t most_date_s = 8'589'934'592;

/// One thread's readings with no other event, and little computing, in between. Those after the first 1000 are *polls*
/// of a thread that waits for a time, and no events.
struct ClockRow {
  static constexpr unsigned most_events = 1000;
  static constexpr std::uint64_t little_ns = 1'000'000;

  unsigned length = 0;

  /// Called once for each reading, with the time since the last one. Returns whether it is a poll.
  bool adds_poll(std::uint64_t since_ns) {
    if (since_ns > little_ns) length = 0;
    return ++length > most_events;
  }
};

}  // namespace sdsm
