/// Readings of the clock in a row: which of them are events, in traces and runs alike.
#pragma once

#include <cstdint>

namespace sdsm::program {

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

}  // namespace sdsm::program
