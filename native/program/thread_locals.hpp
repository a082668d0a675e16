/// The thread-local variables of the program and of its libraries. The C library puts them below a thread's block, at
/// the end of the stack that the thread is made with, where other threads find them by pointers.
#pragma once

#include <cstdint>

#include "native/program/program_image.hpp"
#include "native/program/raw_memory.hpp"

namespace sdsm::program {

/// The calling thread's: a range for each object that has some.
GrowingArray<AddressRange> own_thread_locals();

/// Copies the values of `constructed`, of the thread that ran the constructors, to the calling thread's variables.
void take_over_thread_locals(const GrowingArray<AddressRange>& constructed);

/// Bytes from their begin to the thread's block; 0 if there are none. Equal for all threads.
std::uint64_t thread_locals_below_block();

/// Bytes of a thread's block, its thread-local variables and a stack for the run-time's own code. They end at a
/// multiple of region_alignment in both run-times, so the variables lie on the same pages in a trace and in a run.
std::uint64_t thread_memory_bytes();

}  // namespace sdsm::program
