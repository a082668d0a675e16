#include "native/dsm/timing/emulation.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "models/program/clocks.hpp"
#include "models/program/regions.hpp"
#include "native/dsm/memory/stacks.hpp"
#include "native/dsm/timing/trap_time.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

using program::end_run;

/// The computing of this process's application thread, by the trace.
struct Schedule {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};
constinit Schedule schedule_at_start GUARDED_BY(starting);
constexpr const Schedule& own_schedule = schedule_at_start;

/// The thread's place in it.
struct Progress {
  const std::byte* next_interval = nullptr;
  ScheduledInterval interval;
  const ScheduledTouch* touch = nullptr;  ///< the next one of the interval
  const ScheduledTouch* touches_end = nullptr;
  std::uint64_t begun = 0;  ///< when the interval's computing began; later by what was no computing
  bool is_working = false;
  bool is_over = false;
};
constinit Progress progress GUARDED_BY(application);

struct Readings {
  ClockRow row;
  std::uint64_t last_ns = 0;
};
constinit Readings readings GUARDED_BY(application);

void* map_file(std::int32_t file, std::size_t bytes, int access) {
  void* memory = mmap(nullptr, bytes, access, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) end_run({"the emulation's memory cannot be mapped: ", std::strerror(errno)});
  return memory;
}

void open_schedule(std::int32_t descriptor) REQUIRES(starting) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) end_run({"the emulation's schedule cannot be read"});
  const auto* file =
      static_cast<const std::byte*>(map_file(descriptor, static_cast<std::size_t>(status.st_size), PROT_READ));
  SchedulePlace places[2];
  std::memcpy(places, file + index_of(self.process) * sizeof places[0], sizeof places);
  schedule_at_start = {file + places[0], file + places[1]};
}

}  // namespace

void start_emulation(const Emulation& emulation) {
  // The kernel may otherwise wake a thread 50 us late. Threads that are made later inherit it.
  if (emulation.has_network != 0 || emulation.schedule >= 0) prctl(PR_SET_TIMERSLACK, 1);
  if (emulation.has_network != 0) {
    void* const wires = map_file(emulation.wires, sizeof(EmulatedWires), PROT_READ | PROT_WRITE);
    start_emulated_network(emulation.network, *static_cast<EmulatedWires*>(wires));
  }
  if (emulation.schedule >= 0) open_schedule(emulation.schedule);
}

void end_schedule() {
  progress.is_over = true;
  progress.is_working = false;
}

void begin_work() {
  if (own_schedule.begin == nullptr || progress.is_over) return;
  const std::byte* const begin = progress.next_interval == nullptr ? own_schedule.begin : progress.next_interval;
  if (begin >= own_schedule.end) end_run({"the program does more than its trace holds. Trace it again"});
  std::memcpy(&progress.interval, begin, sizeof progress.interval);
  progress.touch = reinterpret_cast<const ScheduledTouch*>(begin + sizeof progress.interval);
  progress.touches_end = progress.touch + progress.interval.touches;
  progress.next_interval = reinterpret_cast<const std::byte*>(progress.touches_end);
  progress.begun = now_ns();
  progress.is_working = true;
}

void end_work(EventKind kind) {
  need_own_stack();
  if (kind != EventKind::clock) end_clock_row();
  if (!progress.is_working) return;
  progress.is_working = false;
  if (kind != progress.interval.end) end_run({"the program does something else than its trace. Trace it again"});
  if (is_emulating()) wait_until(progress.begun + progress.interval.compute_ns);
}

bool is_clock_event() {
  // As in a trace, what the thread computes between two readings counts, not how long it was kept from it.
  const std::uint64_t now_ns = processor_time_ns();
  const std::uint64_t since_ns = progress.is_working ? 0 : now_ns - readings.last_ns;
  readings.last_ns = now_ns;
  const bool is_poll = readings.row.adds_poll(since_ns);
  return !is_poll || (progress.is_working && progress.interval.end == EventKind::clock);
}

void end_clock_row() {
  readings.row.length = 0;
}

void reach_touch(std::uint32_t region, std::uint64_t index, Access access) {
  if (!progress.is_working || region == administrative_region) return;
  for (const ScheduledTouch* at = progress.touch; at != progress.touches_end; ++at) {
    if (at->region != region || at->access != access || index < at->first || index >= at->first + at->pages) continue;
    progress.touch = at;  // its other pages come at the same time
    const std::uint64_t before_ns = progress.interval.compute_ns * at->position / position_steps;
    if (is_emulating()) wait_until(progress.begun + before_ns);
    return;
  }
}

void resume_work(std::uint64_t since_ns) {
  if (progress.is_working) progress.begun += now_ns() - since_ns + trap_time_ns();
}

}  // namespace sdsm::dsm
