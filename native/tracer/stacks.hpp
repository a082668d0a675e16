/// The stacks that the program's code runs on. They are traced memory: another thread may be given a pointer into one.
/// The thread that a stack belongs to uses it freely; while it does not run, its stack is protected like any page.
#pragma once

#include <cstdint>

#include "native/program/stacks.hpp"
#include "native/tracer/threads.hpp"

namespace sdsm::tracer {
using namespace program;

/// Reserves one stack for each of `threads` threads: as large as the shell's limit for the first, and as OMP_STACKSIZE
/// says (else 8 MiB) for the others.
void reserve_stacks(std::uint32_t threads);
Stack stack_of(std::uint32_t thread);

/// Tells the trace about a thread's stack.
void name_stack(std::uint32_t thread);

/// The stack's owner goes on, or stops.
void open_stack(const Stack& stack);
void shut_stack(const Stack& stack);

}  // namespace sdsm::tracer
