/// The clock as the program reads it: the thread's virtual clock, or what a cluster's clock was predicted to show.
#pragma once

#include <cstdint>

#include "native/tracer/threads.hpp"
#include "native/tracer/turn.hpp"

namespace sdsm::tracer {

/// Opens the predicted readings in options.readings, if there are any.
void open_readings() REQUIRES(turn);

/// Whether a reading is an event: the traced program makes it, not the tracer's own work on its behalf.
bool is_clock_traced() REQUIRES(turn);

/// First pass, in the thread's interval, once for each reading: whether the thread has read the clock so often, with
/// nothing else in between but a little computing, that it only looks at it now. Such a look is no event.
bool is_poll(VirtualThread& self) REQUIRES(turn);
/// Behind is_poll(): whether next to nothing was computed since the last reading, as by a thread that waits.
bool does_little_else(const VirtualThread& self) REQUIRES(turn);
/// First pass: what the thread's next reading gives, in nanoseconds. Behind its last predicted reading, its virtual
/// clock goes on from there.
std::uint64_t next_reading(VirtualThread& self) REQUIRES(turn);
/// First pass: what the next look gives. The clock goes on at the pace of the readings before.
std::uint64_t next_poll(VirtualThread& self) REQUIRES(turn);
/// Every pass: that is what it gave.
void set_clock(VirtualThread& self, std::uint64_t reading_ns, bool is_event) REQUIRES(turn);

/// ScheduleEntry::chosen.
inline constexpr std::uint16_t clock_event = 0, clock_polled = 1, clock_waited = 2;

/// What a reading that is no event would give.
std::uint64_t clock_between_readings() REQUIRES(turn);

/// The thread has slept: it has done nothing, but its clock has gone on.
void add_sleep(VirtualThread& self, std::uint64_t slept_ns) REQUIRES(turn);

/// From here on nothing is traced. The clock goes on as the real one does.
void leave_clock_to_itself() REQUIRES(turn);

}  // namespace sdsm::tracer
