/// The callers: the program's functions that have not returned yet, without libraries' between them and the run-time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sdsm::program {

/// Writes return addresses in the program's code, or in that of its own libraries, the innermost first; returns how
/// many. Walks the calling thread's stack by the unwinding tables that gcc makes for all code, also from a signal
/// handler: about a microsecond for each function on the way.
std::size_t callers_in_program(std::uintptr_t* found, std::size_t most);

/// `caller`, or the innermost of callers_in_program() where that is no code of the program: operator new, say.
std::uintptr_t caller_in_program(std::uintptr_t caller);

/// Return address in the code that called the run-time; 0 if none did, or its frame lies at `end` or above. Follows
/// frame pointers, so it is cheap. Called by the tracer's and this folder's code alone, which is compiled with them.
std::uintptr_t caller_of_runtime(std::uintptr_t end);

}  // namespace sdsm::program
