/// Mutexes of POSIX and of C11, and spin locks.
#include <pthread.h>
#include <threads.h>

#include <cerrno>

#include "native/guest/kernel/clocks.hpp"
#include "native/guest/threads/calls.hpp"

using namespace sdsm;

namespace sdsm::pthreads {

bool patience_until(clockid_t clock, const timespec* limit, std::uint64_t& patience_ns) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  const timespec until = *limit;
  timespec now{};
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return false;
  if (until.tv_nsec < 0 || until.tv_nsec >= second_ns || !program::show_clock(clock, now)) return false;
  const std::int64_t seconds = until.tv_sec - now.tv_sec;
  constexpr std::int64_t most_seconds = 1'000'000'000;
  if (seconds > most_seconds) {
    patience_ns = engine::for_ever;
    return true;
  }
  const std::int64_t left = seconds < -1 ? -1 : seconds * second_ns + until.tv_nsec - now.tv_nsec;
  patience_ns = left > 0 ? static_cast<std::uint64_t>(left) : 0;
  return true;
}

namespace {

/// As the C library keeps it in the mutex, whether pthread_mutex_init or an initialiser put it there. Robust mutexes
/// are as others, as a thread of OpenMP does not end while it holds one.
int kind_of(const pthread_mutex_t* mutex) {
  return mutex->__data.__kind & 3;
}

/// What the kind says of a mutex that the caller holds; -1 if it is to wait for itself.
int lock_again(const pthread_mutex_t* mutex, std::uint32_t& held, int error) {
  switch (kind_of(mutex)) {
    case PTHREAD_MUTEX_RECURSIVE: ++held; return 0;
    case PTHREAD_MUTEX_ERRORCHECK: return error;
    default: return -1;
  }
}

int lock(const pthread_mutex_t* mutex, std::uint64_t patience_ns) {
  if (std::uint32_t* held = engine::times_held(mutex)) {
    const int answer = lock_again(mutex, *held, EDEADLK);
    if (answer >= 0) return answer;
  }
  return engine::take(mutex, engine::mutex_demand, patience_ns) ? 0 : ETIMEDOUT;
}

int try_lock(const pthread_mutex_t* mutex) {
  if (std::uint32_t* held = engine::times_held(mutex)) {
    const int answer = lock_again(mutex, *held, EBUSY);
    if (answer >= 0) return answer;
  }
  return engine::try_take(mutex, engine::mutex_demand) ? 0 : EBUSY;
}

int unlock(const pthread_mutex_t* mutex) {
  std::uint32_t* held = engine::times_held(mutex);
  if (held != nullptr && *held > 1) {
    --*held;
    return 0;
  }
  const int kind = held == nullptr ? kind_of(mutex) : PTHREAD_MUTEX_NORMAL;
  if (kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK) return EPERM;
  engine::give(mutex, engine::mutex_demand);
  return 0;
}

int lock_until(const pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) {
  std::uint64_t patience_ns = 0;
  if (!patience_until(clock, limit, patience_ns)) return EINVAL;
  return lock(mutex, patience_ns);
}

/// What the C library answered to a lock of a mutex that is the process's own; and to its release.
int noted(int answer) {
  if (answer == 0) engine::took_private();
  return answer;
}
int noted_unlock(int answer) {
  if (answer == 0) engine::gave_private();
  return answer;
}

}  // namespace

int c11_answer(int error) {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    case ENOMEM: return thrd_nomem;
    default: return thrd_error;
  }
}

}  // namespace sdsm::pthreads

using namespace sdsm::pthreads;

SDSM_SHARED_ENTRY(int, pthread_mutex_lock, (pthread_mutex_t * mutex) noexcept, mutex, lock(mutex, engine::for_ever),
                  noted(real(mutex)))
SDSM_SHARED_ENTRY(int, pthread_mutex_trylock, (pthread_mutex_t * mutex) noexcept, mutex, try_lock(mutex),
                  noted(real(mutex)))
SDSM_SHARED_ENTRY(int, pthread_mutex_unlock, (pthread_mutex_t * mutex) noexcept, mutex, unlock(mutex),
                  noted_unlock(real(mutex)))
SDSM_SHARED_ENTRY(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* limit) noexcept, mutex,
                  lock_until(mutex, CLOCK_REALTIME, limit), noted(real(mutex, limit)))
SDSM_SHARED_ENTRY(int, pthread_mutex_clocklock,
                  (pthread_mutex_t * mutex, clockid_t clock, const timespec* limit) noexcept, mutex,
                  lock_until(mutex, clock, limit), noted(real(mutex, clock, limit)))

// C11's.
SDSM_ENTRY_AS(int, mtx_lock, (mtx_t * mutex), c11_answer(pthread_mutex_lock(as_posix(mutex))))
SDSM_ENTRY_AS(int, mtx_trylock, (mtx_t * mutex), c11_answer(pthread_mutex_trylock(as_posix(mutex))))
SDSM_ENTRY_AS(int, mtx_unlock, (mtx_t * mutex), c11_answer(pthread_mutex_unlock(as_posix(mutex))))
SDSM_ENTRY_AS(int, mtx_timedlock, (mtx_t * mutex, const timespec* limit),
              c11_answer(pthread_mutex_timedlock(as_posix(mutex), limit)))

SDSM_SHARED_ENTRY(int, pthread_spin_lock, (volatile pthread_spinlock_t * lock) noexcept, lock,
                  take(lock, engine::mutex_demand), real(lock))
SDSM_SHARED_ENTRY(int, pthread_spin_trylock, (volatile pthread_spinlock_t * lock) noexcept, lock,
                  engine::try_take(lock, engine::mutex_demand) ? 0 : EBUSY, real(lock))
SDSM_SHARED_ENTRY(int, pthread_spin_unlock, (volatile pthread_spinlock_t * lock) noexcept, lock,
                  give(lock, engine::mutex_demand), real(lock))
