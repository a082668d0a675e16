/// The engine's events that make nobody wait, and its clock (native/guest/openmp/engine.hpp).
#include "native/guest/openmp/engine.hpp"

#include "native/guest/openmp/thread.hpp"
#include "native/tracer/execution/program_clock.hpp"
#include "native/tracer/execution/schedule_log.hpp"
#include "native/tracer/execution/threads.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/options.hpp"

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

void note(const Event& event) {
  VirtualThread& self = running_thread();
  end_interval(self, event);
  begin_interval(self);
}

bool read_clock(ClockSource source, std::uint64_t& since_begin_ns) {
  if (!turn.is_taken()) return false;
  enter();
  if (!is_clock_traced()) return clock_now(since_begin_ns);
  VirtualThread& self = running_thread();
  pause_interval(self);
  ScheduleEntry entry;
  entry.kind = ScheduleEntry::Kind::clock;
  entry.self = static_cast<std::uint16_t>(self.number);
  const bool is_event = !(is_replay() ? schedule_log::is_next(entry.kind, self.number, clock_polled) ||
                                            schedule_log::is_next(entry.kind, self.number, clock_waited)
                                      : is_poll(self));
  // A thread that does little else may wait for others, until a deadline.
  const bool lets_others_go_on = !is_event && does_little_else(self) && watched.is_in_team && others_can_go_on(self);
  entry.chosen = is_event ? clock_event : lets_others_go_on ? clock_waited : clock_polled;
  if (is_event) end_paused_interval(self, {EventKind::clock, static_cast<std::uint8_t>(source), 0, 0});
  if (is_replay()) {
    entry = schedule_log::take(entry.kind, self.number);
  } else {
    entry.value = is_event ? next_reading(self) : next_poll(self);
    schedule_log::append(entry);
  }
  set_clock(self, entry.value, is_event);
  is_event ? begin_interval(self) : resume_interval(self);
  if (entry.chosen == clock_waited) yield(self, 0);
  since_begin_ns = entry.value;
  return true;
}

bool clock_now(std::uint64_t& since_begin_ns) {
  if (!turn.is_taken()) return false;
  enter();
  since_begin_ns = clock_between_readings();
  return true;
}

std::uint64_t date_of_begin() {
  enter();
  return options.date;
}

void sleep(std::uint64_t nanoseconds) {
  if (!turn.is_taken()) return;
  turn.check();
  if (!is_clock_traced()) return;
  add_sleep(running_thread(), nanoseconds);
}

void note_unopened_unit(const char* /*file*/) {}

double wtime() {
  if (!gomp::has_begun()) return 0;
  std::uint64_t now = 0;
  read_clock(ClockSource::omp_get_wtime, now);
  return static_cast<double>(now) * 1e-9;
}

}  // namespace sdsm::engine
