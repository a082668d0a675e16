/// The stacks that the program's code runs on. They are traced memory, as other threads may have pointers into them. A
/// stack's owner uses it freely; while the owner does not run, the stack is protected like any page.
#pragma once

#include <cstdint>

#include "native/program/stacks.hpp"
#include "native/tracer/threads.hpp"

namespace sdsm::tracer {
using namespace program;

/// Reserves a stack for each of `threads` threads: the first as large as the shell's limit, the others as OMP_STACKSIZE
/// says (else 8 MiB).
void reserve_stacks(std::uint32_t threads) REQUIRES(turn, starting);
Stack stack_of(std::uint32_t thread) REQUIRES(turn);

/// Makes a thread's stack a region of the trace.
void name_stack(std::uint32_t thread) REQUIRES(turn);

/// Ends the run if the touch of `address`, where nothing is, came from a stack that is full.
void end_if_full(std::uint32_t thread, std::uintptr_t address, std::uintptr_t stack_pointer) REQUIRES(turn);

/// The stack's owner goes on (open), or stops (close).
void open_stack(const Stack& stack);
void shut_stack(const Stack& stack);

}  // namespace sdsm::tracer
