/// Addresses of each application thread's stack, and of its thread block with its thread-local variables. They are
/// equal in all processes.
#pragma once

#include <cstdint>

#include "native/dsm/wire/threads.hpp"
#include "native/guest/runtime/program_image.hpp"

namespace sdsm::dsm {

/// Makes regions of all processes' stacks and thread-local variables. `stack_limit` gives the initial stack's size.
void make_stacks(std::uint64_t stack_limit) REQUIRES(starting);

/// The stack on which a process runs the program.
program::AddressRange stack_of(std::uint32_t process);
/// A process's thread block, thread-local variables, and the stack of the run-time's own code.
program::AddressRange control_of(std::uint32_t process);

/// Ends the run if the caller is on a stack that the program made in shared memory: the run-time may have to shut its
/// pages while it runs on it.
void need_own_stack() REQUIRES(application);

/// Whether `address` is in the unused page below this process's stack.
bool is_below_stack(std::uintptr_t address);

}  // namespace sdsm::dsm
