/// What the driver asked the run-time to do.
#pragma once

#include <cstdint>

#include "native/tracer/stream.hpp"

namespace sdsm::tracer {

struct Options {
  std::uint32_t threads = 1;  ///< size of the largest team
  Mode mode = Mode::record;
  int stream = -1;    ///< -1: no driver; the program runs on virtual threads, and nothing is recorded
  int schedule = -1;  ///< file of ScheduleEntry
};
inline Options options;

inline bool is_tracked() { return options.mode == Mode::track; }
inline bool is_replay() { return options.mode != Mode::record; }

/// Reads the environment and takes the tracer's own variables out of it.
void read_options();

}  // namespace sdsm::tracer
