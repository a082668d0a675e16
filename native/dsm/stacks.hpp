/// Where each process's application thread has its stack, and its thread block with its thread-local variables: at the
/// same addresses in all processes.
#pragma once

#include <cstdint>

#include "native/dsm/threads.hpp"
#include "native/program/program_image.hpp"

namespace sdsm::dsm {

/// Names the memory of all processes' stacks and thread-local variables.
void make_stacks() REQUIRES(starting);

/// The stack on which a process runs the program.
program::AddressRange stack_of(std::uint32_t process);
/// Its thread block and thread-local variables, and the stack that the run-time's own code uses.
program::AddressRange control_of(std::uint32_t process);

/// Whether that is the page that is left free below this process's stack.
bool is_below_stack(std::uintptr_t address);

}  // namespace sdsm::dsm
