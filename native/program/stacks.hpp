/// The stacks that the program's code runs on: their sizes, a switch to one, and thread-local variables at their ends.
#pragma once

#include <cstdint>

#include "native/program/program_image.hpp"
#include "native/program/raw_memory.hpp"

namespace sdsm::program {

/// Size in bytes by the shell's limit for stacks; whole pages.
std::uint64_t initial_stack_bytes();
/// Size in bytes by OMP_STACKSIZE (OpenMP 5.0, 6.7), else 8 MiB; whole pages.
std::uint64_t other_stack_bytes();

/// Distance from a stack of that many bytes to the next one, with a page at least between them.
constexpr std::uint64_t stack_slot(std::uint64_t bytes) {
  return region_up(bytes + page_bytes);
}

/// Gives the calling thread a stack for handlers: each thread that runs the program's code needs one.
void give_signal_stack();
/// Bytes of a thread's block and its thread-local variables, at the end of the stack that it is made with; whole pages.
std::uint64_t thread_local_bytes();

/// The stack that the calling thread runs the program's code on. The engine knows it; empty for others.
AddressRange stack_of_caller();

/// Calls function(argument) with the stack pointer at `top`, and returns when it does.
extern "C" void sdsm_call_on_stack(std::uintptr_t top, void (*function)(void*), void* argument);

}  // namespace sdsm::program
