/// Numbers the program's locks by the addresses of their objects.
#pragma once

#include <cstdint>

#include "models/program/events.hpp"
#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

struct NamedLock {
  LockId id{};
  std::uint32_t depth = 0;  ///< times that this process holds it
};

/// The lock at an address. Process 0 gives it a number at its first use anywhere.
NamedLock& lock_named(LockClass lock_class, const void* address) REQUIRES(application);
/// The lock at an address; null if this process has not used it yet.
NamedLock* known_lock(LockClass lock_class, const void* address) REQUIRES(application);

}  // namespace sdsm::dsm
