/// The options that the command passes to the run-time.
#pragma once

#include <cstdint>

#include "native/tracer/record/stream.hpp"
#include "native/tracer/record/turn.hpp"

namespace sdsm::tracer {

struct Options {
  std::uint32_t threads =
      1;  ///< of a team, if the program does not say; also the processes over which pages are placed
  std::uint32_t thread_limit = 1;  ///< of a team, whatever the program says
  Mode mode = Mode::record;
  bool has_sites = false;         ///< touches come with their instructions
  int stream = -1;                ///< -1: no command; the program runs on virtual threads, and nothing is recorded
  int schedule = -1;              ///< file of ScheduleEntry
  int readings = -1;              ///< file of predicted readings of the clock, if there is one
  std::uint64_t clock_speed = 1;  ///< of the program's clock, in virtual clocks' time
  std::uint64_t date = 0;         ///< what calendars show at the program's begin, in seconds since 1970
  const char* words = nullptr;    ///< for choose_watched(); null: not asked for
};
inline constinit Options options GUARDED_BY(turn);

inline bool is_tracked() REQUIRES(turn) {
  return options.mode == Mode::track;
}
inline bool is_replay() REQUIRES(turn) {
  return options.mode != Mode::record;
}

/// Reads the environment and takes the tracer's own variables out of it.
void read_options() REQUIRES(turn);

}  // namespace sdsm::tracer
