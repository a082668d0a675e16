/// Numbers the program's locks by the addresses of their objects.
#pragma once

#include <cstdint>

#include "models/ids.hpp"
#include "models/locks.hpp"
#include "native/dsm/wire/threads.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::dsm {

inline constexpr LockId critical_lock{0};             ///< of the critical section without a name
inline constexpr std::uint64_t first_named_lock = 3;  ///< as the tracer numbers them

struct NamedLock {
  LockId id{};
  std::uint32_t depth = 0;  ///< times that this process holds it
};

/// The lock at an address. Process 0 gives it a number at its first use anywhere.
NamedLock& lock_named(trace::LockClass lock_class, const void* address) REQUIRES(application);
/// The lock at an address; null if this process has not used it yet.
NamedLock* known_lock(trace::LockClass lock_class, const void* address) REQUIRES(application);

}  // namespace sdsm::dsm
