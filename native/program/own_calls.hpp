/// What the run-time itself calls. A program may define functions of the C library's names (connect, send, link), which
/// the dynamic linker would give to the run-time, too.
#pragma once

#include <cstdint>

namespace sdsm::program {

/// Whether it is the run-time's code that lies there.
bool is_run_time(std::uintptr_t address);

/// The C library's function of this name; null if it has none.
void* c_library_function(const char* name);

/// Before anything else: binds the run-time's calls that reach the program or its libraries to the C library's
/// functions. Until then it calls what C reserves, and the dynamic linker.
void bind_own_calls();

}  // namespace sdsm::program
