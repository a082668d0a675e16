/// The schedule: which thread went on at each scheduling point, and what each clock read. The first pass writes it and
/// the others repeat it, so that all passes do the same.
#pragma once

#include <cstdint>

#include "native/tracer/record/stream.hpp"
#include "native/tracer/record/turn.hpp"

namespace sdsm::tracer::schedule_log {

/// Opens the file in options.schedule, if there is one.
void open() REQUIRES(turn);

/// First pass: appends an entry. Later passes: takes the next entry; ends the run as diverged if it is not of this kind
/// and of `self`.
void append(const ScheduleEntry& entry) REQUIRES(turn);
ScheduleEntry take(ScheduleEntry::Kind kind, std::uint32_t self) REQUIRES(turn);

/// Whether the next entry is of this kind and of `self`. Later passes only.
bool is_next(ScheduleEntry::Kind kind, std::uint32_t self) REQUIRES(turn);
/// Whether it also has this `chosen`.
bool is_next(ScheduleEntry::Kind kind, std::uint32_t self, std::uint16_t chosen) REQUIRES(turn);

/// Sets the loops that the first pass knew from here on. To be called at the start, too: where the first pass is made
/// again, its file begins with those that it learnt the first time.
void set_wait_loops() REQUIRES(turn);

/// Whether the next entry is an interruption of `self` in its interval number `interval`. Later passes only.
bool is_preempted_next(std::uint32_t self, std::uint64_t interval) REQUIRES(turn);

/// First pass: writes what is in the buffer.
void flush() REQUIRES(turn);

}  // namespace sdsm::tracer::schedule_log
