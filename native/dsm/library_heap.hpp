/// What the C library allocates for itself (streams, locales) is each process's own. It lies at other addresses in each
/// process, so that another one's is never taken for the own.
#pragma once

#include <cstdint>

#include "native/program/thread_safety.hpp"

namespace sdsm::dsm {

/// From here on the C library allocates where no other process does. Before threads begin; `process` counts from 0.
void keep_library_heap_apart(std::uint32_t process) REQUIRES(program::starting);

/// The process whose C library may have allocated memory at `address`; -1 if none has any there.
int process_of_library_heap(std::uintptr_t address);

}  // namespace sdsm::dsm
