#include "sim/clock.hpp"

#include <algorithm>

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/version.h>

namespace sdsm::sim {

void Clock::at(Time date, std::function<void()> action) {
  if (idle_.empty()) {
    alarms_.push_back(std::make_unique<Alarm>());
    idle_.push_back(alarms_.back().get());
  }
  Alarm* const alarm = idle_.back();
  idle_.pop_back();
  alarm->date = date;
  alarm->action = std::move(action);
  simgrid::kernel::timer::Timer::set(to_seconds(date), [this, alarm] { fire(alarm); });
}

void Clock::fire(Alarm* alarm) {
  // Beyond 9007 s neighbouring picoseconds share a double, and their timers may fire in either order.
  now_ = std::max(now_, alarm->date);
  const std::function<void()> action = std::move(alarm->action);
  idle_.push_back(alarm);
  action();
}

void Clock::catch_up() { now_ = std::max(now_, from_seconds(simgrid::s4u::Engine::get_clock())); }

void Doorbell::wait() {
  if (!rung_) {
    sleeper_ = simgrid::s4u::Actor::self();
    asleep_ = true;
    simgrid::s4u::this_actor::suspend();
  }
  rung_ = false;
}

void Doorbell::ring() {
  if (asleep_) {
    asleep_ = false;
    sleeper_->resume();
  } else {
    rung_ = true;
  }
}

void start_actor(const std::string& name, simgrid::s4u::Host* host, std::function<void()> body) {
#if SIMGRID_VERSION >= 40100
  host->add_actor(name, std::move(body));
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
