/// Barriers and locks, as this process's application thread goes through them.
#pragma once

#include "models/ids.hpp"
#include "native/dsm/threads.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Goes through the phases of models/openmp.hpp. `is_fork`: the time until the team first meets is idle time, not the
/// barrier's.
void pass_barrier(bool is_fork = false) REQUIRES(application);

void acquire_lock(LockId lock, const OrderedTurn* turn = nullptr) REQUIRES(application);
/// Returns false if somebody else holds the lock. A lock that was given back is free, even if its manager has not heard
/// of it yet.
bool try_acquire_lock(LockId lock) REQUIRES(application);
void release_lock(LockId lock) REQUIRES(application);
/// Whether this process holds the lock and has not begun to give it back, for managers that ask. Any thread.
bool holds_lock(LockId lock);

/// Flushes and drops copies, without a lock.
void synchronise_memory() REQUIRES(application);

/// The calling thread, not the initial one, ends the program: it asks process 0 to.
[[noreturn]] void end_from_member(ExitKind kind, int status);

}  // namespace sdsm::dsm
