#pragma once

#include "native/tracer/turn.hpp"

namespace sdsm::tracer {

/// Ends the run, as no thread can go on, with a line that says what each waits for.
[[noreturn]] void end_deadlocked() REQUIRES(turn);

}  // namespace sdsm::tracer
