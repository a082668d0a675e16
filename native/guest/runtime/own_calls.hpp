/// Binds the run-time's own calls. A program may define functions of the C library's names (connect, send, link), to
/// which the dynamic linker would bind the run-time, too; or hold a Zydis of another version.
#pragma once

#include <cstdint>

namespace sdsm::program {

/// Whether the run-time's code lies there.
bool is_run_time(std::uintptr_t address);

/// The C library's function of this name; null if it has none.
void* c_library_function(const char* name);

/// To be called first of all: binds the run-time's and Zydis's calls that reach the program or its libraries to the C
/// library's functions and Zydis's. Until then it calls what C reserves, and the dynamic linker.
void bind_own_calls();

}  // namespace sdsm::program
