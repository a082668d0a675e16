/// Barriers and locks, as this process's application thread goes through them.
#pragma once

#include "models/ids.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/guest/openmp/gangs.hpp"
#include "native/guest/threads/engine.hpp"

namespace sdsm::dsm {

enum class Barrier : std::uint8_t {
  fork_worker,  ///< the time until the team first meets is idle time, not the barrier's
  of_some,
  of_all,  ///< threads of the run
};
/// Goes through a barrier's steps (models/scash/courses.hpp).
void pass_barrier(Barrier barrier) REQUIRES(application);
/// Goes through the barrier of a gang of several threads.
void pass_gang_barrier(const gomp::Gang& gang) REQUIRES(application);
/// Sends the master of gang.outer, or of the team, how this process has divided it.
void note_division(const gomp::Gang& gang) REQUIRES(application);
/// Sends the gang's master word that this process has passed its last barrier.
void leave_gang(const gomp::Gang& gang) REQUIRES(application);

/// The initial thread runs alone from now on, outside of parallel regions, and keeps locks (models/locks.hpp).
void begin_alone() REQUIRES(application);
/// Others are about to run, too: gives the kept locks back.
void end_alone() REQUIRES(application);

void acquire_lock(LockId lock, const OrderedTurn* turn = nullptr) REQUIRES(application);
/// Asks the lock's manager for a grant, which is a release and then an acquire of memory. There is no acquire if the
/// time is over. `question`: kind, value, and the payload's bytes.
GrantSays wait_for_grant(LockId lock, Head question, const void* payload = nullptr, std::uint64_t until_ns = no_end)
    REQUIRES(application);
/// Returns false if somebody else holds the lock. A released lock is free, even if its manager does not know.
bool try_acquire_lock(LockId lock, engine::Demand demand = engine::mutex_demand) REQUIRES(application);
void release_lock(LockId lock, engine::Demand demand = engine::mutex_demand) REQUIRES(application);
/// Whether this process holds the lock and has not begun to give it back, for managers that ask. Any thread.
bool holds_lock(LockId lock);
bool holds_a_lock();
/// Doacross loops: sends own changes home, then counts the flag up to `value`.
void post_flag(std::uint64_t flag, std::uint64_t value) REQUIRES(application);
/// Waits until the flag has counted up to `value`.
void await_flag(std::uint64_t flag, std::uint64_t value) REQUIRES(application);
/// Asks the lock's manager something that it answers at once, by a number.
std::uint64_t ask_manager(LockId lock, WireKind kind, std::uint64_t value = 0) REQUIRES(application);
/// Releases memory, and wakes at most so many of the threads that wait for the lock's object. Returns how many.
std::uint64_t wake_enlisted(LockId lock, std::uint64_t most) REQUIRES(application);
/// Forgets what this process knows of pages if its generation is older than `newest`: blocks may be new.
void note_generation(std::uint32_t newest) REQUIRES(application);
/// Flushes and drops copies.
void synchronise_memory() REQUIRES(application);

/// Ends the program from a thread other than the initial one: asks process 0 to.
[[noreturn]] void end_from_member(ExitKind kind, int status);

}  // namespace sdsm::dsm
