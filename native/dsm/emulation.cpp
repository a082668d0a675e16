#include "native/dsm/emulation.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "native/dsm/cluster.hpp"
#include "native/dsm/regions.hpp"
#include "native/program/ending.hpp"
#include "native/program/signals.hpp"

namespace sdsm::dsm {
namespace {

using program::end_run;

Emulation emulation;

/// The thread's place in its schedule.
const std::byte* next_interval = nullptr;
const std::byte* schedule_end = nullptr;
ScheduledInterval interval;
const ScheduledTouch* touch = nullptr;  ///< the next one of the interval
const ScheduledTouch* touches_end = nullptr;
std::uint64_t begun = 0;  ///< when the interval's computing began; later by what was no computing
bool is_working = false;

void* map_file(std::int32_t file, std::size_t bytes, int access) {
  void* memory = mmap(nullptr, bytes, access, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) end_run({"the emulation's memory cannot be mapped: ", std::strerror(errno)});
  return memory;
}

/// What a trap takes before and after its handler: the handler cannot see it, and it is no computing either.
std::uint64_t trap_ns = 0;

constexpr int trap_samples = 255;
std::byte* trap_page = nullptr;
volatile std::uint64_t handler_ns = 0;

void on_sample_trap(int /*unused*/, siginfo_t* /*unused*/, void* /*unused*/) {
  const std::uint64_t begun_at = now_ns();
  mprotect(trap_page, program::page_bytes, PROT_READ | PROT_WRITE);
  handler_ns = now_ns() - begun_at;
}

/// The median of a row of traps.
void measure_traps() {
  trap_page = static_cast<std::byte*>(
      mmap(nullptr, program::page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
  if (trap_page == MAP_FAILED) end_run({"the emulation's memory cannot be mapped: ", std::strerror(errno)});
  struct sigaction action {
  }, before{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = on_sample_trap;
  sigfillset(&action.sa_mask);
  program::real_sigaction(SIGSEGV, &action, &before);
  std::uint64_t samples[trap_samples];
  for (std::uint64_t& sample : samples) {
    mprotect(trap_page, program::page_bytes, PROT_READ);
    const std::uint64_t begun_at = now_ns();
    *reinterpret_cast<volatile std::byte*>(trap_page) = std::byte{1};
    sample = now_ns() - begun_at - handler_ns;
  }
  program::real_sigaction(SIGSEGV, &before, nullptr);
  munmap(trap_page, program::page_bytes);
  std::nth_element(samples, samples + trap_samples / 2, samples + trap_samples);
  trap_ns = samples[trap_samples / 2];
}

void open_schedule() {
  struct stat status;
  if (fstat(emulation.schedule, &status) != 0) end_run({"the emulation's schedule cannot be read"});
  const auto* file =
      static_cast<const std::byte*>(map_file(emulation.schedule, static_cast<std::size_t>(status.st_size), PROT_READ));
  SchedulePlace places[2];
  std::memcpy(places, file + index_of(self.process) * sizeof places[0], sizeof places);
  next_interval = file + places[0];
  schedule_end = file + places[1];
}

}  // namespace

void start_emulation(const Emulation& wanted) {
  emulation = wanted;
  // The kernel may otherwise wake a thread 50 us late. Threads that are made later inherit it.
  if (emulation.has_network != 0 || emulation.schedule >= 0) prctl(PR_SET_TIMERSLACK, 1);
  if (emulation.has_network != 0) {
    void* const wires = map_file(emulation.wires, sizeof(EmulatedWires), PROT_READ | PROT_WRITE);
    start_emulated_network(emulation.network, *static_cast<EmulatedWires*>(wires));
  }
  if (emulation.schedule < 0) return;
  open_schedule();
  measure_traps();
}

void wait_until(std::uint64_t due_ns) {
  const std::uint64_t woken_ns = due_ns - wake_up_ns;
  if (now_ns() < woken_ns) {
    const timespec due{static_cast<time_t>(woken_ns / 1'000'000'000), static_cast<long>(woken_ns % 1'000'000'000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
    }
  }
  while (now_ns() < due_ns) __builtin_ia32_pause();
}

void begin_work() {
  if (next_interval == nullptr) return;
  if (next_interval >= schedule_end) end_run({"the program does more than its trace: it cannot be emulated"});
  std::memcpy(&interval, next_interval, sizeof interval);
  touch = reinterpret_cast<const ScheduledTouch*>(next_interval + sizeof interval);
  touches_end = touch + interval.touches;
  next_interval = reinterpret_cast<const std::byte*>(touches_end);
  begun = now_ns();
  is_working = true;
}

void end_work(trace::EventKind kind) {
  if (!is_working) return;
  is_working = false;
  if (kind != interval.end) end_run({"the program does otherwise than its trace: it cannot be emulated"});
  if (is_emulating()) wait_until(begun + interval.compute_ns);
}

void reach_touch(std::uint32_t region, std::uint64_t index, Access access) {
  if (!is_working || region == administrative_region) return;
  for (const ScheduledTouch* at = touch; at != touches_end; ++at) {
    if (at->region != region || at->access != access || index < at->first || index >= at->first + at->pages) continue;
    touch = at;  // its other pages come at the same time
    if (is_emulating()) wait_until(begun + interval.compute_ns * at->position / trace::position_steps);
    return;
  }
}

void resume_work(std::uint64_t since_ns) {
  if (is_working) begun += now_ns() - since_ns + trap_ns;
}

}  // namespace sdsm::dsm
