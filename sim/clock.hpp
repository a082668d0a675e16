/// Simulated time, on SimGrid's clock. SimGrid counts seconds in doubles; everything here counts integer picoseconds and
/// only the date of a timer is converted, so that sums of costs stay exact however long a run is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "models/units.hpp"

namespace sdsm::sim {

class Clock {
 public:
  Time now() const { return now_; }

  /// Runs `action` at `date` (>= now()). Actions of one date run in the order in which SimGrid's timers fire, which is the
  /// same in every run. An action must not block. Captures of up to two pointers cost no allocation.
  void at(Time date, std::function<void()> action);

  /// Takes over SimGrid's time, at which a communication of SimGrid's ended.
  void catch_up();

 private:
  struct Alarm {
    Time date{};
    std::function<void()> action;
  };
  void fire(Alarm* alarm);

  Time now_{};
  std::vector<std::unique_ptr<Alarm>> alarms_;
  std::vector<Alarm*> idle_;
};

/// Lets an actor sleep until another part of the simulation wakes it.
class Doorbell {
 public:
  /// Blocks the calling actor until ring(). Returns at once if it was rung since the last wait.
  void wait();
  void ring();

 private:
  simgrid::s4u::ActorPtr sleeper_;
  bool asleep_ = false;
  bool rung_ = false;
};

/// Starts an actor. Hides the one difference between SimGrid 3.32 and 4.1 that matters here.
void start_actor(const std::string& name, simgrid::s4u::Host* host, std::function<void()> body);

/// SimGrid's settings for both networks; to be called before the platform is loaded.
void configure_engine();

}  // namespace sdsm::sim
