/// The C library's own allocations (streams, locales), which are private to each process. They lie at different
/// addresses in each process, so that none takes another's for its own.
#pragma once

#include <cstdint>

#include "native/guest/runtime/thread_safety.hpp"

namespace sdsm::dsm {

/// Makes the C library allocate where no other process does. To be called before threads begin.
void keep_library_heap_apart(std::uint32_t process) REQUIRES(program::starting);

/// The process whose C library may have allocated memory at `address`; -1 if none has any there.
int process_of_library_heap(std::uintptr_t address);

}  // namespace sdsm::dsm
