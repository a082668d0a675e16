#include "native/tracer/execution/program_clock.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/nanoseconds.hpp"
#include "native/tracer/record/ending.hpp"
#include "native/tracer/record/options.hpp"

namespace sdsm::tracer {
namespace {

/// Words of the file (stream.hpp).
constinit const std::uint64_t* predicted GUARDED_BY(turn) = nullptr;

/// What a reading takes, about: the C library asks no kernel for it.
constexpr std::uint64_t reading_takes_ns = 25;
/// A thread that polls with next to nothing computed in between waits for a time. Its clock goes on by a part of the
/// wait so far, so that it need not poll for ever.
constexpr std::uint64_t next_to_nothing_ns = 1000;
constexpr unsigned part_of_wait = 128;

/// What the program's clock has gone, when a virtual clock has gone so far.
std::uint64_t shown(std::uint64_t virtual_ns) REQUIRES(turn) {
  return virtual_ns * options.clock_speed;
}

/// Before main begins, and behind the trace's end.
struct OutsideClock {
  std::uint64_t shown_ns = 0;
  std::uint64_t real_ns = 0;  ///< at the trace's end; 0 before
};
constinit OutsideClock outside GUARDED_BY(turn);

}  // namespace

void open_readings() {
  if (options.readings < 0 || is_replay()) return;
  struct stat status {};
  if (fstat(options.readings, &status) != 0) end_run({"the predicted readings of the clock cannot be read"});
  void* memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, options.readings, 0);
  if (memory == MAP_FAILED) end_run({"the predicted readings of the clock cannot be mapped"});
  predicted = static_cast<const std::uint64_t*>(memory);
}

bool is_clock_traced() {
  return gomp::has_begun() && outside.real_ns == 0 && !watched.is_inside;
}

bool is_poll(VirtualThread& self) {
  Readings& own = self.readings;
  const std::uint64_t computed = self.stopwatch.elapsed_ns();
  own.computed_since_ns = computed - own.computed_ns;
  own.computed_ns = computed;
  return own.row.adds_poll(own.computed_since_ns);
}

bool does_little_else(const VirtualThread& self) {
  return self.readings.computed_since_ns < next_to_nothing_ns;
}

std::uint64_t next_reading(VirtualThread& self) {
  Readings& own = self.readings;
  self.clock_ns += reading_takes_ns;
  std::uint64_t reading = shown(self.clock_ns) + own.ahead_ns;
  if (predicted != nullptr && self.number < predicted[0]) {
    const std::uint64_t* const next = predicted + predicted[1 + self.number] + own.count;
    // Traces, and so predictions, know nothing of sleep.
    if (next < predicted + predicted[2 + self.number]) reading = *next + own.slept_ns;
  }
  // Two readings in a row must differ, or a program that divides by the difference fails.
  if (reading <= own.last_ns) reading = own.last_ns + 1;
  if (own.row.length == 1) {
    own.row_began_ns = reading;
    own.row_began_clock_ns = self.clock_ns;
  }
  return reading;
}

std::uint64_t next_poll(VirtualThread& self) {
  Readings& own = self.readings;
  const auto since_row_began = static_cast<double>(own.last_ns - own.row_began_ns);
  if (own.row.length == ClockRow::most_events + 1) {
    own.pace = since_row_began / static_cast<double>(self.clock_ns - own.row_began_clock_ns);
  }
  std::uint64_t waited = 0;
  if (does_little_else(self)) waited = static_cast<std::uint64_t>(since_row_began / part_of_wait);
  own.slept_ns += waited;
  self.clock_ns += waited;
  const double computed = static_cast<double>(own.computed_since_ns + reading_takes_ns) * own.pace;
  return own.last_ns + waited + static_cast<std::uint64_t>(computed) + 1;
}

void set_clock(VirtualThread& self, std::uint64_t reading_ns, bool is_event) {
  Readings& own = self.readings;
  own.count += is_event;
  own.last_ns = reading_ns;
  own.ahead_ns = reading_ns - shown(self.clock_ns);
}

std::uint64_t clock_between_readings() {
  if (!gomp::has_begun()) return outside.shown_ns += reading_takes_ns + outside.shown_ns / part_of_wait;
  if (outside.real_ns != 0) return outside.shown_ns + (program::read_ns(CLOCK_MONOTONIC) - outside.real_ns);
  const VirtualThread& self = running_thread();
  const std::uint64_t so_far = self.is_in_interval ? self.stopwatch.elapsed_ns() : 0;
  const std::uint64_t now = shown(self.clock_ns + so_far) + self.readings.ahead_ns;
  return now > self.readings.last_ns ? now : self.readings.last_ns;
}

void add_sleep(VirtualThread& self, std::uint64_t slept_ns) {
  self.readings.slept_ns += slept_ns;
  self.clock_ns += slept_ns;
  if (slept_ns > 0) self.readings.row.length = 0;
}

void leave_clock_to_itself() {
  if (outside.real_ns != 0) return;
  outside.shown_ns = clock_between_readings();
  outside.real_ns = program::read_ns(CLOCK_MONOTONIC);
}

}  // namespace sdsm::tracer
