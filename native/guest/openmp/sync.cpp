/// Barriers, single, critical, atomic, and the lock routines of the OpenMP library.
#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/entry.hpp"

using namespace sdsm;
using gomp::this_thread;
using gomp::ThreadState;

SDSM_ENTRY_AS(void, GOMP_barrier, (), gomp::team_barrier(this_thread()))

SDSM_ENTRY bool GOMP_barrier_cancel() {
  gomp::team_barrier(this_thread());
  return false;
}

namespace {

/// True for the one thread of the team that executes the `single` at hand.
bool enter_single(ThreadState& thread) {
  gomp::begin_construct(thread);
  return thread.serialised || engine::take_single(thread.construct.number);
}

}  // namespace

SDSM_ENTRY bool GOMP_single_start() {
  ThreadState& thread = this_thread();
  const bool is_first = enter_single(thread);
  gomp::leave_construct(thread);
  return is_first;
}

/// Null for the thread that executes the `single` and calls GOMP_single_copy_end; for others what it hands on then.
SDSM_ENTRY void* GOMP_single_copy_start() {
  ThreadState& thread = this_thread();
  if (enter_single(thread)) return nullptr;
  const void* copied = engine::take_copied(thread.construct.number, thread.team_size);
  gomp::leave_construct(thread);
  return const_cast<void*>(copied);
}

SDSM_ENTRY void GOMP_single_copy_end(void* data) {
  ThreadState& thread = this_thread();
  if (!thread.serialised) engine::give_copied(thread.construct.number, data, thread.team_size);
  gomp::leave_construct(thread);
}

namespace {

// A constructor's lock is free, and held by nobody when the program begins.
void acquire(LockClass lock_class, const void* lock) {
  if (gomp::has_begun()) engine::acquire(lock_class, lock);
}
void release(LockClass lock_class, const void* lock) {
  if (gomp::has_begun()) engine::release(lock_class, lock);
}
void create_lock(LockClass lock_class, const void* lock) {
  if (!gomp::has_begun()) return;
  if (this_thread().active_level > 0) return engine::reset_lock(lock_class, lock);
  engine::create_lock(lock_class, lock);
}

}  // namespace

SDSM_ENTRY_AS(void, GOMP_critical_start, (), acquire(LockClass::critical, nullptr))
SDSM_ENTRY_AS(void, GOMP_critical_end, (), release(LockClass::critical, nullptr))
SDSM_ENTRY_AS(void, GOMP_critical_name_start, (void** name), acquire(LockClass::critical, name))
SDSM_ENTRY_AS(void, GOMP_critical_name_end, (void** name), release(LockClass::critical, name))
SDSM_ENTRY_AS(void, GOMP_atomic_start, (), acquire(LockClass::atomic, nullptr))
SDSM_ENTRY_AS(void, GOMP_atomic_end, (), release(LockClass::atomic, nullptr))

/// In C and in Fortran, where a lock variable's address is the lock's, too. The objects themselves are never read or
/// written: a lock is a message, not a shared variable. Hints, which some of these get as well, change nothing.
#define SDSM_LOCK_ROUTINE(result, name, ...)             \
  SDSM_ENTRY_AS(result, name, (void* lock), __VA_ARGS__) \
  SDSM_ENTRY_AS(result, name##_, (void* lock), __VA_ARGS__)

SDSM_LOCK_ROUTINE(void, omp_init_lock, create_lock(LockClass::lock, lock))
SDSM_LOCK_ROUTINE(void, omp_init_lock_with_hint, create_lock(LockClass::lock, lock))
SDSM_LOCK_ROUTINE(void, omp_destroy_lock, engine::reset_lock(LockClass::lock, lock))
SDSM_LOCK_ROUTINE(void, omp_set_lock, acquire(LockClass::lock, lock))
SDSM_LOCK_ROUTINE(void, omp_unset_lock, release(LockClass::lock, lock))
SDSM_LOCK_ROUTINE(int, omp_test_lock, !gomp::has_begun() || engine::try_acquire(LockClass::lock, lock) ? 1 : 0)
SDSM_LOCK_ROUTINE(void, omp_init_nest_lock, create_lock(LockClass::nest_lock, lock))
SDSM_LOCK_ROUTINE(void, omp_init_nest_lock_with_hint, create_lock(LockClass::nest_lock, lock))
SDSM_LOCK_ROUTINE(void, omp_destroy_nest_lock, engine::reset_lock(LockClass::nest_lock, lock))
SDSM_LOCK_ROUTINE(void, omp_set_nest_lock, acquire(LockClass::nest_lock, lock))
SDSM_LOCK_ROUTINE(void, omp_unset_nest_lock, release(LockClass::nest_lock, lock))
SDSM_LOCK_ROUTINE(int, omp_test_nest_lock, gomp::has_begun() ? engine::try_acquire_nested(lock) : 1)
