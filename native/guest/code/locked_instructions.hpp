/// Traps the program's atomic operations. Compilers make each of one instruction, without a call. A trap replaces it,
/// and the engine beneath does it if the memory is shared. The address decides, as libraries work on both.
#pragma once

#include <ucontext.h>

#include <csignal>
#include <cstddef>
#include <cstdint>

#include "native/guest/code/atomic_operation.hpp"
#include "native/guest/runtime/thread_safety.hpp"

namespace sdsm::program {

/// Replaces the instructions of the program and of its libraries, also of those that it loads later, but not of the
/// system's libraries; and takes SIGTRAP.
void take_over_locked_instructions() REQUIRES(starting);

// Each engine defines these. They run in a signal's handler.

/// Does the operation if the memory is shared; else returns false, and the caller does it in place. `code`: the
/// instruction's own address.
bool operate_on_shared(std::uintptr_t code, std::uintptr_t address, const AtomicOperation& operation,
                       AtomicOutcome& outcome);
/// Serves a trap of the engine's own; false if it is none.
bool take_trap(const siginfo_t& info, ucontext_t& machine);
/// Notes that the program has loaded a library of its own (dlopen), whose variables are not shared.
void note_library(const char* path, std::size_t bytes_of_variables);
/// Does a fence: the thread then sees what other threads wrote before their own fences. `code`: the instruction.
void fence_shared(std::uintptr_t code);

}  // namespace sdsm::program
