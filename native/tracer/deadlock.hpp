#pragma once

#include "native/tracer/turn.hpp"

namespace sdsm::tracer {

/// No thread can go on: ends the run with a line that says what each waits for.
[[noreturn]] void end_deadlocked() REQUIRES(turn);

}  // namespace sdsm::tracer
