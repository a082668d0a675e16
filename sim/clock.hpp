/// Simulated time, on SimGrid's clock. SimGrid counts seconds in doubles. Everything here counts integer picoseconds,
/// and converts only the dates of timers, so sums of costs stay exact in long runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <simgrid/forward.h>

#include "models/units.hpp"

namespace simgrid::kernel::timer {
class Timer;
}

namespace sdsm::sim {

/// 104 days: 63 bits of picoseconds cannot hold much more.
inline constexpr Time last_date{9'000'000'000'000'000'000};

/// Throws std::invalid_argument, which says what to do.
[[noreturn]] void throw_beyond_last_date();

/// `count` times `each`. Throws as above if no run can last as long.
inline Time times(std::uint64_t count, Time each) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(count, each.count(), &all) || Time{all} > last_date) throw_beyond_last_date();
  return Time{all};
}
/// Nearest picosecond. More than last_date gives a little more than last_date, so that spending it throws.
inline Time from_picoseconds(double ps) {
  return Time{std::llround(std::min(ps, 1.01 * static_cast<double>(last_date.count())))};
}
/// Both together, each at most last_date. Throws as above.
inline Time sum(Time one, Time other) {
  if (one > last_date - other) throw_beyond_last_date();
  return one + other;
}

class Clock {
 public:
  /// Whether SimGrid's clock has other users. Each of its steps costs about 0.2 us
  /// (docs/decisions/003-clock-steps-for-actors.md).
  enum class Alone : bool {
    no,   ///< SimGrid's communications use it too: each date is a step
    yes,  ///< only this class uses it: the clock steps when an actor has to run; actions in between share a step
  };

  explicit Clock(Alone alone) : alone_(alone) {}

  Time now() const { return now_; }

  /// Runs `action` at `date` (>= now()). Actions of one date run in the order of these calls. An action must not block.
  /// Captures of up to two pointers cost no allocation.
  void at(Time date, std::function<void()> action);

  /// Moves now() to the end of one of SimGrid's communications. Throws std::invalid_argument beyond last_date.
  void catch_up();

  /// The simulation is over: no action of now() or later runs.
  void stop();

  /// Lets a suspended actor run at now(): before any later action and, if Alone, before any other action of this date.
  void resume(simgrid::s4u::Actor& actor);
  /// To be called by a resumed actor when it runs.
  void resumed() {
    if (alone_ == Alone::yes) --to_run_;
  }
  /// An actor calls this before it is suspended or ends. If Alone, no action runs before a resumed actor has run.
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
  bool is_stopped_ = false;
  int to_run_ = 0;  ///< resumed actors that have not run yet
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

/// Starts an actor, with SimGrid 3.32 and 4.1 alike.
void start_actor(const std::string& name, simgrid::s4u::Host* host, std::function<void()> body);

/// SimGrid's settings for both networks; to be called before the platform is loaded.
void configure_engine();

}  // namespace sdsm::sim
