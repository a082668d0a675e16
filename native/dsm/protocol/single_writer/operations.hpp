#pragma once

#include "native/dsm/memory/node.hpp"
#include "native/guest/code/atomic_operation.hpp"

namespace sdsm::dsm {

/// Does an atomic operation, in order with the thread's other accesses unless under `--atomics relaxed`.
program::AtomicOutcome operate(const Place& place, std::uintptr_t address, const program::AtomicOperation& operation)
    REQUIRES(application) EXCLUDES(node().mutex);
void fence() REQUIRES(application) EXCLUDES(node().mutex);

}  // namespace sdsm::dsm
