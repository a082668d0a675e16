/// Simulates a network frame by frame, on an event heap of its own: the reference for the queue network.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "models/wire.hpp"

namespace sdsm::test {

/// A star of `nodes` cables to one switch that stores each frame and forwards it. Frames wait at ports in the order in
/// which they come; frames of several messages mix there.
class FrameNetwork {
 public:
  FrameNetwork(std::uint32_t nodes, LinkSpec cable, Framing framing);

  Time now() const { return now_; }
  void at(Time date, std::function<void()> action);
  void send(std::uint32_t from, std::uint32_t to, Bytes payload, std::function<void()> arrived);
  /// Until nothing is left to happen.
  void run();

 private:
  struct Event {
    Time date;
    std::uint64_t number;
    std::function<void()> action;
    bool operator<(const Event& other) const {
      return date > other.date || (date == other.date && number > other.number);
    }
  };
  Time pass(Time& free_at, Bytes frame);

  LinkSpec cable_;
  Framing framing_;
  Time now_{};
  std::uint64_t next_number_ = 0;
  std::priority_queue<Event> events_;
  std::vector<Time> up_, down_;  ///< when each port is free
};

}  // namespace sdsm::test
