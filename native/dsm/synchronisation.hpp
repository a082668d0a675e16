/// Barriers and locks, as this process's application thread goes through them.
#pragma once

#include "models/ids.hpp"
#include "native/dsm/threads.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

/// Does the phases of models/openmp.hpp. `is_fork`: until the team meets first it is idle, which is no part of a
/// barrier.
void pass_barrier(bool is_fork = false) REQUIRES(application);

void acquire_lock(LockId lock, const OrderedTurn* turn = nullptr) REQUIRES(application);
/// False if somebody else has it. What has been given back is free, even if its manager has not heard of that yet.
bool try_acquire_lock(LockId lock) REQUIRES(application);
void release_lock(LockId lock) REQUIRES(application);
/// Changes go home and copies die, without a lock.
void synchronise_memory() REQUIRES(application);

/// The calling thread, which is not the initial one, ends the program: process 0 does it for it.
[[noreturn]] void end_from_member(ExitKind kind, int status);

}  // namespace sdsm::dsm
