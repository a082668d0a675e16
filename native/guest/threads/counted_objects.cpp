/// Objects that count: semaphores, read-write locks, barriers.
#include <pthread.h>
#include <semaphore.h>

#include <cerrno>

#include "native/guest/kernel/clocks.hpp"
#include "native/guest/threads/calls.hpp"

using namespace sdsm;
using namespace sdsm::pthreads;
using engine::Counted;
using engine::reader_demand;
using engine::semaphore_demand;
using engine::writer_demand;
using program::NextFunction;

namespace {

int fail(int error) {
  errno = error;
  return -1;
}

int sem_wait_until(sem_t* semaphore, clockid_t clock, const timespec* limit) {
  std::uint64_t patience_ns = 0;
  if (!patience_until(clock, limit, patience_ns)) return fail(EINVAL);
  return engine::take(semaphore, semaphore_demand, patience_ns) ? 0 : fail(ETIMEDOUT);
}

int lock(pthread_rwlock_t* rwlock, engine::Demand demand, std::uint64_t patience_ns) {
  if (engine::times_held(rwlock) != nullptr) return EDEADLK;
  return engine::take(rwlock, demand, patience_ns) ? 0 : ETIMEDOUT;
}

int lock_until(pthread_rwlock_t* rwlock, engine::Demand demand, clockid_t clock, const timespec* limit) {
  std::uint64_t patience_ns = 0;
  if (!patience_until(clock, limit, patience_ns)) return EINVAL;
  return lock(rwlock, demand, patience_ns);
}

int try_lock(pthread_rwlock_t* rwlock, engine::Demand demand) {
  return engine::try_take(rwlock, demand) ? 0 : EBUSY;
}

}  // namespace

SDSM_ENTRY int sem_init(sem_t* semaphore, int is_shared, unsigned value) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(sem_t*, int, unsigned)> real{"sem_init"};
  const int answer = real(semaphore, is_shared, value);
  if (answer == 0) engine::set_number(semaphore, Counted::permits, -static_cast<int>(value));
  return answer;
}
SDSM_SHARED_ENTRY(int, sem_wait, (sem_t * semaphore), semaphore, take(semaphore, semaphore_demand), real(semaphore))
SDSM_SHARED_ENTRY(int, sem_trywait, (sem_t * semaphore) noexcept, semaphore,
                  engine::try_take(semaphore, semaphore_demand) ? 0 : fail(EAGAIN), real(semaphore))
SDSM_ENTRY int sem_timedwait(sem_t* semaphore, const timespec* limit) {
  SDSM_NEXT_FUNCTION NextFunction<int(sem_t*, const timespec*)> real{"sem_timedwait"};
  if (engine::has_object(semaphore)) return sem_wait_until(semaphore, CLOCK_REALTIME, limit);
  const timespec until = program::real_limit(CLOCK_REALTIME, *limit);
  return real(semaphore, &until);
}
SDSM_ENTRY int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* limit) {
  SDSM_NEXT_FUNCTION NextFunction<int(sem_t*, clockid_t, const timespec*)> real{"sem_clockwait"};
  if (engine::has_object(semaphore)) return sem_wait_until(semaphore, clock, limit);
  const timespec until = program::real_limit(clock, *limit);
  return real(semaphore, clock, &until);
}
SDSM_SHARED_ENTRY(int, sem_post, (sem_t * semaphore) noexcept, semaphore, give(semaphore, semaphore_demand),
                  real(semaphore))
SDSM_ENTRY int sem_getvalue(sem_t* semaphore, int* value) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(sem_t*, int*)> real{"sem_getvalue"};
  if (!engine::has_object(semaphore)) return real(semaphore, value);
  *value = -engine::number_of(semaphore, Counted::permits);
  return 0;
}

/// Defines the functions that lock for `name` (rd, wr) with `demand`.
#define SDSM_RWLOCK(name, demand)                                                                         \
  SDSM_SHARED_ENTRY(int, pthread_rwlock_##name##lock, (pthread_rwlock_t * rwlock) noexcept, rwlock,       \
                    lock(rwlock, demand, engine::for_ever), real(rwlock))                                 \
  SDSM_SHARED_ENTRY(int, pthread_rwlock_try##name##lock, (pthread_rwlock_t * rwlock) noexcept, rwlock,    \
                    try_lock(rwlock, demand), real(rwlock))                                               \
  SDSM_SHARED_ENTRY(int, pthread_rwlock_timed##name##lock,                                                \
                    (pthread_rwlock_t * rwlock, const timespec* limit) noexcept, rwlock,                  \
                    lock_until(rwlock, demand, CLOCK_REALTIME, limit), real(rwlock, limit))               \
  SDSM_SHARED_ENTRY(int, pthread_rwlock_clock##name##lock,                                                \
                    (pthread_rwlock_t * rwlock, clockid_t clock, const timespec* limit) noexcept, rwlock, \
                    lock_until(rwlock, demand, clock, limit), real(rwlock, clock, limit))
SDSM_RWLOCK(rd, reader_demand)
SDSM_RWLOCK(wr, writer_demand)

SDSM_SHARED_ENTRY(int, pthread_rwlock_unlock, (pthread_rwlock_t * rwlock) noexcept, rwlock,
                  give(rwlock, engine::times_held(rwlock) != nullptr ? writer_demand : reader_demand), real(rwlock))

SDSM_ENTRY int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                    unsigned count) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned)> real{
      "pthread_barrier_init"};
  const int answer = real(barrier, attributes, count);
  if (answer == 0) engine::set_number(barrier, Counted::parties, static_cast<std::int32_t>(count));
  return answer;
}
SDSM_SHARED_ENTRY(int, pthread_barrier_wait, (pthread_barrier_t * barrier) noexcept, barrier,
                  engine::meet(barrier) ? PTHREAD_BARRIER_SERIAL_THREAD : 0, real(barrier))
