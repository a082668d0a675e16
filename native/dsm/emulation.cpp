#include "native/dsm/emulation.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "native/dsm/cluster.hpp"
#include "native/dsm/regions.hpp"
#include "native/program/ending.hpp"

namespace sdsm::dsm {
namespace {

using program::end_run;

Emulation emulation;
EmulatedWires* wires = nullptr;

/// The thread's place in its schedule.
const std::byte* next_interval = nullptr;
const std::byte* schedule_end = nullptr;
ScheduledInterval interval;
const ScheduledTouch* touch = nullptr;  ///< the next one of the interval
const ScheduledTouch* touches_end = nullptr;
std::uint64_t begun = 0;  ///< when the interval's computing began; later by what was no computing
bool is_working = false;

std::uint64_t time_on_link(Bytes bytes) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes.count) / emulation.link.bandwidth.bytes_per_second * 1e9);
}

/// From `earliest` on, as soon as the cable is free.
std::uint64_t occupy(std::atomic<std::uint64_t>& free_ns, std::uint64_t earliest, std::uint64_t duration) {
  std::uint64_t free = free_ns.load();
  std::uint64_t start = 0;
  do {
    start = std::max(free, earliest);
  } while (!free_ns.compare_exchange_weak(free, start + duration));
  return start;
}

void* map_file(std::int32_t file, std::size_t bytes, int access) {
  void* memory = mmap(nullptr, bytes, access, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) end_run({"the emulation's memory cannot be mapped: ", std::strerror(errno)});
  return memory;
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
    wires = static_cast<EmulatedWires*>(map_file(emulation.wires, sizeof(EmulatedWires), PROT_READ | PROT_WRITE));
  }
  if (emulation.schedule >= 0) open_schedule();
}

/// A switch that stores and forwards, as sim/queue_network.cpp has it.
std::uint64_t arrival_of(ProcessId to, Bytes payload) {
  if (wires == nullptr || payload.count == 0 || self.layout.node_of(to) == own_node()) return 0;
  const std::uint64_t whole = time_on_link(wire_bytes(emulation.framing, payload));
  const std::uint64_t frame = time_on_link(first_frame_bytes(emulation.framing, payload));
  const std::uint64_t latency = static_cast<std::uint64_t>(emulation.link.latency.count() / 1000);
  const std::uint64_t sent = occupy(wires->up_free_ns[index_of(own_node())], now_ns(), whole);
  const std::uint64_t at_switch = sent + frame + latency;
  const std::uint64_t passed_on = occupy(wires->down_free_ns[index_of(self.layout.node_of(to))], at_switch, whole);
  return std::max(passed_on + whole, sent + whole + latency + frame) + latency;
}

void wait_until(std::uint64_t due_ns) {
  if (due_ns == 0) return;
  const timespec due{static_cast<time_t>(due_ns / 1'000'000'000), static_cast<long>(due_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
  }
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
  wait_until(begun + interval.compute_ns);
}

void reach_touch(std::uint32_t region, std::uint64_t index, Access access) {
  if (!is_working || region == administrative_region) return;
  for (const ScheduledTouch* at = touch; at != touches_end; ++at) {
    if (at->region != region || at->access != access || index < at->first || index >= at->first + at->pages) continue;
    touch = at;  // its other pages come at the same time
    wait_until(begun + interval.compute_ns * at->position / trace::position_steps);
    return;
  }
}

void resume_work(std::uint64_t since_ns) {
  if (is_working) begun += now_ns() - since_ns;
}

}  // namespace sdsm::dsm
