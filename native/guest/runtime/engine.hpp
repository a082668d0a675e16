/// What the engine beneath does for the program besides OpenMP: clocks, memory, refusals. Each engine (the tracer, the
/// native DSM) defines these functions, as those of native/guest/openmp/engine.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/program/clocks.hpp"

namespace sdsm::engine {

/// Reads one of the other clocks. Event: clock. False: the C library's own clock answers. Else `since_begin_ns` does:
/// nanoseconds since the program's begin, when calendars showed date_of_begin() (seconds since 1970).
bool read_clock(ClockSource source, std::uint64_t& since_begin_ns);
/// Reads the clock without an event, for a wait until a time that the program has from its clock.
bool clock_now(std::uint64_t& since_begin_ns);
std::uint64_t date_of_begin();
/// Notes that the thread has let so much time pass without computing.
void sleep(std::uint64_t nanoseconds);
/// Notes that the thread opens a file of that name because a statement of Fortran names a unit that is not open.
void note_unopened_unit(const char* file);

/// Memory that all threads of the program share, zeroed; null if there is none left.
void* allocate_shared(std::size_t bytes, std::size_t alignment);
void* reallocate_shared(void* block, std::size_t bytes);
void free_shared(void* block);

/// Memory of the run-time itself, which no trace shows. Never null: the run ends if there is none left.
void* allocate_private(std::size_t bytes);
void free_private(void* block);

/// A copy, with a zero at its end, in memory that all threads share. caller: in the program.
const char* keep_text(const char* text, std::size_t length, std::uintptr_t caller);

/// Ends the run: `what` is the entry point or feature, `why` what the user can do. Never returns.
[[noreturn]] void refuse(const char* what, const char* why);

}  // namespace sdsm::engine
