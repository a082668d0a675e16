/// The stacks that the program's code runs on, and its threads' thread-local variables. They are traced memory, as
/// other threads may have pointers into them. The owner uses them freely; while it does not run, they are protected
/// like any page.
#pragma once

#include <cstdint>

#include "native/guest/memory/stacks.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/tracer/execution/threads.hpp"

namespace sdsm::tracer {
using namespace program;

/// Reserves a stack for each of `threads` threads: the first as large as the shell's limit, the others as OMP_STACKSIZE
/// says (else 8 MiB). Finds out whether the program has thread-local variables.
void reserve_stacks(std::uint32_t threads) REQUIRES(turn, starting);
Stack stack_of(std::uint32_t thread) REQUIRES(turn);
bool has_thread_locals() REQUIRES(turn);

/// Memory for a thread's block, its thread-local variables and the tracer's own frames. Ends the run if there is none.
program::AddressRange make_thread_memory(std::uint32_t thread) REQUIRES(turn);
/// Makes that memory a region of the trace. Returns the part that other threads may reach. `block`: the thread's, at
/// the end of it. Precondition: has_thread_locals().
program::AddressRange name_thread_locals(std::uint32_t thread, const program::AddressRange& memory,
                                         std::uintptr_t block) REQUIRES(turn);

/// Makes a thread's stack a region of the trace.
void name_stack(std::uint32_t thread) REQUIRES(turn);

/// Gives pages that hold only zeros back to the kernel, which makes them anew where they are used. A new thread's
/// variables are mostly such, and the time to open and shut grows with the pages. Called by the thread whose variables
/// they are.
void give_zeros_back(const program::AddressRange& locals);

/// Ends the run if the touch of `address`, where nothing is, came from a stack that is full.
void end_if_full(std::uint32_t thread, std::uintptr_t address, std::uintptr_t stack_pointer) REQUIRES(turn);

/// Called when the stack's owner goes on (open), or stops (close).
void open_stack(const Stack& stack);
void shut_stack(const Stack& stack);

}  // namespace sdsm::tracer
