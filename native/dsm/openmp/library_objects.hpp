/// Synchronisation objects of the C library in shared memory (native/guest/threads/engine.hpp): each has a manager.
#pragma once

#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// Whether the address is in shared memory, or in what will be: constructors run before variables are.
bool is_shared(const volatile void* address);

/// Process 0, before main: sends the managers the numbers that constructors gave to objects.
void send_early_numbers() REQUIRES(application);

}  // namespace sdsm::dsm
