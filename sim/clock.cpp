#include "sim/clock.hpp"

#include <algorithm>
#include <stdexcept>

#include <simgrid/version.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

namespace sdsm::sim {

using simgrid::kernel::timer::Timer;

namespace {

/// A date on SimGrid's clock. That clock may be a fraction of a picosecond ahead of ours, and SimGrid ends the program
/// if a timer is set for what it takes for the past.
double simgrid_date(Time date) {
  return std::max(to_seconds(date), simgrid::s4u::Engine::get_clock());
}

}  // namespace

void throw_beyond_last_date() {
  throw std::invalid_argument(
      "the run lasts longer than 104 simulated days, which is more than can be simulated. Scale its compute down "
      "(--sequential-time, --compute-factor), trace a smaller problem, or look at the units of the platform's costs");
}

void Clock::at(Time date, std::function<void()> action) {
  if (is_stopped_) return;
  // A sum that 63 bits do not hold is below zero.
  if (date < Time{} || date > last_date) throw_beyond_last_date();
  if (idle_.empty()) {
    alarms_.push_back(std::make_unique<Alarm>());
    idle_.push_back(alarms_.back().get());
  }
  Alarm* const alarm = idle_.back();
  idle_.pop_back();
  alarm->date = date;
  alarm->number = next_number_++;
  alarm->action.swap(action);  // a move assignment would make a third one
  heap_.push_back(alarm);
  std::push_heap(heap_.begin(), heap_.end(), Later{});
  arm();
}

/// Sees to it that SimGrid wakes us for the earliest alarm. Not while an actor is to run that must come first: SimGrid
/// fires all timers of a date before it lets actors run, and once fired, actions of later dates are taken, too.
void Clock::arm() {
  if (heap_.empty() || to_run_ > 0 || firing_) return;
  const Time date = heap_.front()->date;
  if (armed_) {
    if (armed_for_ <= date) return;
    armed_->remove();
  }
  armed_for_ = date;
  armed_ = Timer::set(simgrid_date(date), [this] { fire(); });
}

void Clock::fire() {
  armed_ = nullptr;
  simgrid_now_ = armed_for_;
  firing_ = true;
  while (!heap_.empty() && to_run_ == 0 && (alone_ == Alone::yes || heap_.front()->date <= simgrid_now_)) {
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    Alarm* const alarm = heap_.back();
    heap_.pop_back();
    now_ = std::max(now_, alarm->date);
    const std::function<void()> action = std::move(alarm->action);
    idle_.push_back(alarm);
    action();
  }
  firing_ = false;
  arm();
}

void Clock::resume(simgrid::s4u::Actor& actor) {
  if (alone_ == Alone::no) return actor.resume();
  ++to_run_;
  if (now_ <= simgrid_now_) {
    actor.resume();
    return;
  }
  // We are ahead of SimGrid's clock: it steps to now(), and the actor runs then.
  Timer::set(simgrid_date(now_), [this, &actor, date = now_] {
    simgrid_now_ = std::max(simgrid_now_, date);
    actor.resume();
  });
}

void Clock::stop() {
  is_stopped_ = true;
  heap_.clear();
  if (armed_ != nullptr) armed_->remove();
  armed_ = nullptr;
}

void Clock::catch_up() {
  const double seconds = simgrid::s4u::Engine::get_clock();
  if (seconds > to_seconds(last_date)) throw_beyond_last_date();
  now_ = std::max(now_, from_seconds(seconds));
}

void Doorbell::wait() {
  if (!rung_) {
    sleeper_ = simgrid::s4u::Actor::self();
    asleep_ = true;
    clock_.pauses();
    simgrid::s4u::this_actor::suspend();
    clock_.resumed();
  }
  rung_ = false;
}

void Doorbell::ring() {
  if (asleep_) {
    asleep_ = false;
    clock_.resume(*sleeper_);
  } else {
    rung_ = true;
  }
}

void start_actor(const std::string& name, simgrid::s4u::Host* host, std::function<void()> body) {
#if SIMGRID_VERSION >= 40100
  host->add_actor(name, std::move(body));
#elif SIMGRID_VERSION >= 40000
  simgrid::s4u::Engine::add_actor(name, host, std::move(body));
#else
  simgrid::s4u::Actor::create(name, host, std::move(body));
#endif
}

void configure_engine() {
  using simgrid::s4u::Engine;
  // CM02 with these settings takes latency + bytes / bandwidth; the default, LV08, multiplies latencies by 13.
  Engine::set_config("network/model:CM02");
  Engine::set_config("network/crosstraffic:0");
  Engine::set_config("network/TCP-gamma:0");
#if SIMGRID_VERSION >= 33600
  Engine::set_config("precision/timing:1e-13");
#else
  Engine::set_config("surf/precision:1e-13");
#endif
}

}  // namespace sdsm::sim
