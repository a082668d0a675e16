/// The stacks that the program's code runs on: their sizes, a switch to one, and thread-local variables at their ends.
#pragma once

#include <cstdint>

#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"

namespace sdsm::program {

/// The shell's limit for stacks (RLIMIT_STACK).
std::uint64_t own_stack_limit();
/// Size in bytes of an initial stack by such a limit; whole pages.
std::uint64_t initial_stack_bytes(std::uint64_t limit);
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

/// The calling thread's thread-local variables: a range for each object that has some. The C library puts them below a
/// thread's block, at the end of the stack that the thread is made with, where other threads find them by pointers.
GrowingArray<AddressRange> own_thread_locals();

/// Copies the values of `constructed`, of the thread that ran the constructors, to the calling thread's variables.
void take_over_thread_locals(const GrowingArray<AddressRange>& constructed);

/// Bytes from their begin to the thread's block; 0 if there are none. Equal for all threads.
std::uint64_t thread_locals_below_block();

/// Bytes of a thread's block, its thread-local variables and a stack for the run-time's own code. They end at a
/// multiple of region_alignment in both run-times, so the variables lie on the same pages in a trace and in a run.
std::uint64_t thread_memory_bytes();

struct MainCall {
  int (*main)(int, char**, char**) = nullptr;
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
  void (*end)(int status) = nullptr;  ///< called where main has returned; does not return
};

/// Calls main on `stack`, for both engines at the same depth, so that its variables lie on the same pages. Its
/// arguments, array and texts, are copied to the stack's end first, which all threads see. The kernel has put them into
/// each process's private memory, and programs change them (getopt, strtok). The copy has pages of its own. Arguments
/// that would take half of the stack stay where they are.
[[noreturn]] void call_main_on(const AddressRange& stack, const MainCall& call);

}  // namespace sdsm::program
