/// The rest of what the front end asks for: events that make nobody wait, and the clock.
#include "native/gomp/engine.hpp"

#include "native/gomp/thread.hpp"
#include "native/tracer/ending.hpp"
#include "native/tracer/options.hpp"
#include "native/tracer/program_clock.hpp"
#include "native/tracer/schedule_log.hpp"
#include "native/tracer/threads.hpp"

namespace sdsm::engine {

using namespace sdsm::tracer;

std::uint32_t default_threads() {
  enter();
  return options.threads;
}
std::uint32_t thread_limit() {
  enter();
  return options.thread_limit;
}

void note(const gomp::Event& event) {
  VirtualThread& self = running_thread();
  end_interval(self, event);
  begin_interval(self);
}

double wtime() {
  if (!gomp::has_begun()) return 0;
  VirtualThread& self = running_thread();
  end_interval(self, {gomp::EventKind::clock, 0, 0, 0});
  ScheduleEntry entry;
  entry.kind = ScheduleEntry::Kind::clock;
  entry.self = static_cast<std::uint16_t>(self.number);
  if (is_replay()) {
    entry = schedule_log::take(ScheduleEntry::Kind::clock, self.number);
  } else {
    entry.value = next_reading(self);
    schedule_log::append(entry);
  }
  begin_interval(self);
  return static_cast<double>(entry.value) * 1e-9;
}

}  // namespace sdsm::engine
