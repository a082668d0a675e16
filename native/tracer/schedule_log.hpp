/// The schedule: which thread went on at each scheduling point, and what each clock read. Written by the first pass,
/// repeated by the others, so that all passes do the same.
#pragma once

#include <cstdint>

#include "native/tracer/stream.hpp"

namespace sdsm::tracer::schedule_log {

/// Opens the file in options.schedule, if there is one.
void open();

/// First pass: appends. Later passes: the entry that comes next, which `self` must have written; the run ends as
/// diverged if it has not.
void append(const ScheduleEntry& entry);
ScheduleEntry take(ScheduleEntry::Kind kind, std::uint32_t self);

/// Whether the next entry is an interruption of `self` in its interval number `interval`. Later passes only.
bool is_preempted_next(std::uint32_t self, std::uint64_t interval);

/// First pass: writes what is in the buffer.
void flush();

}  // namespace sdsm::tracer::schedule_log
