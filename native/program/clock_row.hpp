/// Readings of the clock in a row: the rule by which traces and runs tell events from looks.
#pragma once

#include <cstdint>

namespace sdsm::program {

/// Of one thread: its readings with no other event, and little computing, in between. Those behind the first 1000 are
/// looks, of a thread that waits for a time: they are no events.
struct ClockRow {
  static constexpr unsigned most_events = 1000;
  static constexpr std::uint64_t little_ns = 1'000'000;

  unsigned length = 0;

  /// Called once for each reading, with the time since the last one: whether it is a look.
  bool adds_look(std::uint64_t since_ns) {
    if (since_ns > little_ns) length = 0;
    return ++length > most_events;
  }
};

}  // namespace sdsm::program
