/// The clock as the program reads it: the thread's virtual clock, or predicted readings of a cluster's clock.
#pragma once

#include <cstdint>

#include "native/tracer/execution/threads.hpp"
#include "native/tracer/record/turn.hpp"

namespace sdsm::tracer {

/// Opens the predicted readings in options.readings, if there are any.
void open_readings() REQUIRES(turn);

/// Whether a reading is an event: the traced program makes it, not the tracer's own work on its behalf.
bool is_clock_traced() REQUIRES(turn);

/// First pass, in the thread's interval, once for each reading: whether the thread has read the clock so often, with
/// only a little computing in between, that it now polls it. A poll is no event.
bool is_poll(VirtualThread& self) REQUIRES(turn);
/// To be called after is_poll(): whether next to nothing was computed since the last reading.
bool does_little_else(const VirtualThread& self) REQUIRES(turn);
/// First pass: the thread's next reading, in nanoseconds. Its virtual clock goes on after the last predicted one.
std::uint64_t next_reading(VirtualThread& self) REQUIRES(turn);
/// First pass: the result of the next poll. The clock goes on at the pace of the readings before.
std::uint64_t next_poll(VirtualThread& self) REQUIRES(turn);
/// Every pass: sets what the reading gave.
void set_clock(VirtualThread& self, std::uint64_t reading_ns, bool is_event) REQUIRES(turn);

/// Values of ScheduleEntry::chosen.
inline constexpr std::uint16_t clock_event = 0, clock_polled = 1, clock_waited = 2;

/// The result of a reading that is no event.
std::uint64_t clock_between_readings() REQUIRES(turn);

/// Notes that the thread has slept: it has done nothing, but its clock has gone on.
void add_sleep(VirtualThread& self, std::uint64_t slept_ns) REQUIRES(turn);

/// Makes the clock go on as the real one does: nothing is traced from here on.
void leave_clock_to_itself() REQUIRES(turn);

}  // namespace sdsm::tracer
