/// Makes a timeline of the run from the processes' logs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/timelines/timeline.hpp"
#include "native/dsm/wire/control.hpp"

namespace sdsm::run_command {

/// A message is logged by its sender and by its receiver, and a state within another cuts it in two.
inline constexpr std::uint64_t logs_per_event = 4;

/// Keeps logs for the selection's events: those that begin first, as processes send theirs when they have time. Needs
/// memory for at most a quarter more than `logs_per_event` times as many, 40 bytes each.
class TimelineLogs {
 public:
  TimelineLogs(Layout layout, ProtocolKind protocol, std::uint64_t most_events)
      : layout_(layout),
        protocol_(protocol),
        most_logs_(logs_per_event * most_events),
        processes_(layout.processes()) {}

  /// Takes the payload of a frame. Throws ProtocolError.
  void take(std::uint32_t process, const std::string& payload);

  /// The run, from process 0's begin to its end. A process without a log has no slices. Adds to the labels the measured
  /// region, as the logs have it, and what was dropped. Throws BadInput if the selection's window has nothing else.
  timelines::Timeline timeline(timelines::Selection selection, timelines::Labels& labels) const;

 private:
  void drop_the_latest();

  Layout layout_;
  ProtocolKind protocol_;
  std::uint64_t most_logs_;
  std::uint64_t kept_ = 0;  ///< without the processes' lives, which are always known
  std::uint64_t dropped_ = 0;
  std::uint64_t horizon_ns_ = ~std::uint64_t{0};  ///< what begins here or later was dropped
  std::vector<std::vector<dsm::TimedEvent>> processes_;
  std::vector<std::uint64_t> clock_readings_ns_;  ///< the initial thread's first one and its last one
};

}  // namespace sdsm::run_command
