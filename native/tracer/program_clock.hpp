/// The clock as the program reads it: the thread's virtual clock, or what a cluster's clock was predicted to show.
#pragma once

#include <cstdint>

#include "native/tracer/threads.hpp"
#include "native/tracer/turn.hpp"

namespace sdsm::tracer {

/// Opens the predicted readings in options.readings, if there are any.
void open_readings() REQUIRES(turn);

/// First pass: what the thread's next reading gives, in nanoseconds. Behind its last predicted reading, its virtual
/// clock goes on from there.
std::uint64_t next_reading(VirtualThread& self) REQUIRES(turn);

}  // namespace sdsm::tracer
