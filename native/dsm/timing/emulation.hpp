/// An emulated cluster: messages between nodes take as long as on the emulated network, and computing takes as long as
/// on the emulated processors. What the protocol itself costs is real. Nothing here happens in a run without emulation.
#pragma once

#include <cstdint>

#include "models/program/events.hpp"
#include "models/protocol/pages.hpp"
#include "native/dsm/wire/emulated_network.hpp"
#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// A thread's computing between two events on the emulated processors, with its first touches of pages.
struct ScheduledInterval {
  std::uint64_t compute_ns = 0;
  std::uint32_t touches = 0;  ///< ScheduledTouch records that follow
  EventKind end{};
  std::uint8_t reserved[3] = {};
};
struct ScheduledTouch {
  std::uint32_t region = 0;  ///< as numbered in regions.hpp
  std::uint32_t pages = 0;
  std::uint64_t first = 0;
  std::uint32_t position = 0;  ///< in steps of 1/256 of the interval
  Access access{};
  std::uint8_t reserved[3] = {};
};
/// The file begins with the place of each process's first interval, and the end of the last process's intervals.
using SchedulePlace = std::uint64_t;

void start_emulation(const Emulation& emulation) REQUIRES(starting);

// The application thread's computing. Between begin_work and end_work it works off the next interval of its schedule.

void begin_work() REQUIRES(application);
/// Waits, at an event, until the interval's computing would be done.
void end_work(EventKind kind) REQUIRES(application);
/// The schedule ends here: what follows is no part of it.
void end_schedule() REQUIRES(application);
/// Whether a reading of the clock is an event. The schedule knows; without one it follows the tracer's rule.
bool is_clock_event() REQUIRES(application);
/// The thread has slept, so its next reading begins a row.
void end_clock_row() REQUIRES(application);
/// Waits, at a trap, until the computing before the touch would be done. `index` is the page's in its region.
void reach_touch(std::uint32_t region, std::uint64_t index, Access access) REQUIRES(application);
/// Goes on after a trap: the time since `since_ns`, and the trap itself, were no computing.
void resume_work(std::uint64_t since_ns) REQUIRES(application);

}  // namespace sdsm::dsm
