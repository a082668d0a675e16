/// The thread-local variables of the program and of its libraries. The C library puts them below a thread's block, at
/// the end of the stack that the thread is made with: there others find them who have pointers to them.
#pragma once

#include <cstdint>

#include "native/program/program_image.hpp"
#include "native/program/raw_memory.hpp"

namespace sdsm::program {

/// Of the calling thread: a range for each object that has some.
GrowingArray<AddressRange> own_thread_locals();

/// `constructed` are those of the thread that ran the constructors: copies their values to the calling thread's.
void take_over_thread_locals(const GrowingArray<AddressRange>& constructed);

/// How far below a thread's block they begin, in bytes; 0 if there are none. The same for all threads.
std::uint64_t thread_locals_below_block();

/// Of a thread's block, its thread-local variables and a stack for the run-time's own code. Both run-times give a
/// thread so many bytes, which end at a multiple of region_alignment: so its variables lie on the same pages in a trace
/// and in a run.
std::uint64_t thread_memory_bytes();

}  // namespace sdsm::program
