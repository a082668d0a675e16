/// The ways in which the tracer ends the traced program.
#pragma once

#include "native/guest/runtime/ending.hpp"
#include "native/tracer/record/turn.hpp"

namespace sdsm::tracer {
using namespace program;

/// Ends the program because this pass differs from the first, as `thread` noticed. The command says where.
[[noreturn]] void end_diverged(std::uint32_t thread) REQUIRES(turn);

/// Ends the program, as no thread can go on, with a line that says what each waits for.
[[noreturn]] void end_deadlocked() REQUIRES(turn);

}  // namespace sdsm::tracer
