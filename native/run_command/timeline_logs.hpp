/// What the processes log of their times, put together to a timeline of the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/timelines/timeline.hpp"
#include "native/dsm/control.hpp"

namespace sdsm::run_command {

class TimelineLogs {
 public:
  /// `most_events`: to keep of all processes together; later ones are counted only.
  TimelineLogs(Layout layout, ProtocolKind protocol, std::uint64_t most_events)
      : layout_(layout), protocol_(protocol), left_(most_events), processes_(layout.processes()) {}

  /// Takes the payload of a frame. Throws ProtocolError.
  void take(std::uint32_t process, const std::string& payload);

  /// The run, from process 0's begin to its end. A process that has said nothing at its end has no slices. Adds to the
  /// labels what the logs tell of the measured region, and what was dropped.
  timelines::Timeline timeline(timelines::Selection selection, timelines::Labels& labels) const;

 private:
  Layout layout_;
  ProtocolKind protocol_;
  std::uint64_t left_;
  std::uint64_t dropped_ = 0;
  std::uint64_t dropped_from_ns_ = ~std::uint64_t{0};
  std::vector<std::vector<dsm::TimedEvent>> processes_;
};

}  // namespace sdsm::run_command
