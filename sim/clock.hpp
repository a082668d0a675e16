/// Simulated time, on SimGrid's clock. SimGrid counts seconds in doubles; everything here counts integer picoseconds
/// and only the date of a timer is converted, so that sums of costs stay exact however long a run is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "models/units.hpp"

namespace simgrid::kernel::timer {
class Timer;
}

namespace sdsm::sim {

/// Beyond it lies what 63 bits of picoseconds cannot hold: 104 days.
inline constexpr Time last_date{9'000'000'000'000'000'000};

class Clock {
 public:
  /// What else lives on SimGrid's clock. Every step of that clock costs SimGrid about 0.2 us, whatever happens in it.
  enum class Alone : bool {
    no,   ///< communications of SimGrid's: each date is a step of its clock
    yes,  ///< nothing but this: the clock steps when an actor is to run, and actions between are taken in one go
  };

  explicit Clock(Alone alone) : alone_(alone) {}

  Time now() const { return now_; }

  /// Runs `action` at `date` (>= now()). Actions of one date run in the order of these calls. An action must not block.
  /// Captures of up to two pointers cost no allocation.
  void at(Time date, std::function<void()> action);

  /// Takes over SimGrid's time, at which a communication of SimGrid's ended.
  void catch_up();

  /// Lets a suspended actor run at now(): before any later action, and if Alone, before any other of the same date.
  void resume(simgrid::s4u::Actor& actor);
  /// A resumed actor says that it runs.
  void resumed() {
    if (alone_ == Alone::yes) --to_run_;
  }
  /// An actor says that it is about to be suspended or to end. If Alone, no action is taken while a
  /// resumed actor has yet to run.
  void pauses() { arm(); }

 private:
  struct Alarm {
    Time date{};
    std::uint64_t number = 0;
    std::function<void()> action;
  };
  struct Later {
    bool operator()(const Alarm* a, const Alarm* b) const {
      return a->date > b->date || (a->date == b->date && a->number > b->number);
    }
  };
  void arm();
  void fire();

  Alone alone_;
  Time now_{};
  Time simgrid_now_{};  ///< date of the last step of SimGrid's clock that came from here
  bool firing_ = false;
  int to_run_ = 0;  ///< actors resumed that have not run yet
  std::uint64_t next_number_ = 0;
  std::vector<Alarm*> heap_;
  std::vector<std::unique_ptr<Alarm>> alarms_;
  std::vector<Alarm*> idle_;
  simgrid::kernel::timer::Timer* armed_ = nullptr;
  Time armed_for_{};
};

/// Lets an actor sleep until another part of the simulation wakes it.
class Doorbell {
 public:
  explicit Doorbell(Clock& clock) : clock_(clock) {}

  /// Blocks the calling actor until ring(). Returns at once if it was rung since the last wait.
  void wait();
  void ring();

 private:
  Clock& clock_;
  simgrid::s4u::ActorPtr sleeper_;
  bool asleep_ = false;
  bool rung_ = false;
};

/// Starts an actor. Hides the one difference between SimGrid 3.32 and 4.1 that matters here.
void start_actor(const std::string& name, simgrid::s4u::Host* host, std::function<void()> body);

/// SimGrid's settings for both networks; to be called before the platform is loaded.
void configure_engine();

}  // namespace sdsm::sim
