/// Condition variables, of POSIX and of C11; and the kernel's futex, on which C++'s atomic waits are built.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <threads.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include "native/guest/kernel/clocks.hpp"
#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/threads/calls.hpp"

using namespace sdsm;
using namespace sdsm::pthreads;
using program::NextFunction;

namespace {

int wait_for(pthread_cond_t* condition, pthread_mutex_t* mutex, std::uint64_t patience_ns) {
  engine::enlist(condition);
  if (const int error = pthread_mutex_unlock(mutex)) {
    engine::leave(condition);
    return error;
  }
  const bool is_woken = engine::await(condition, patience_ns);
  pthread_mutex_lock(mutex);
  return is_woken ? 0 : ETIMEDOUT;
}

int wait_until(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) {
  std::uint64_t patience_ns = 0;
  if (!patience_until(clock, limit, patience_ns)) return EINVAL;
  return wait_for(condition, mutex, patience_ns);
}

/// As pthread_condattr_setclock left it.
clockid_t clock_of(const pthread_cond_t* condition) {
  constexpr unsigned is_monotonic = 2;
  return (condition->__data.__wrefs & is_monotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

constexpr std::uint32_t everybody = ~std::uint32_t{0};

int wake(pthread_cond_t* condition, std::uint32_t most) {
  engine::wake(condition, most);
  return 0;
}

}  // namespace

SDSM_SHARED_ENTRY(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex), condition,
                  wait_for(condition, mutex, engine::for_ever), real(condition, mutex))
SDSM_ENTRY int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* limit) {
  SDSM_NEXT_FUNCTION NextFunction<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)> real{
      "pthread_cond_timedwait"};
  if (!engine::has_object(condition)) {
    const timespec until = program::real_limit(clock_of(condition), *limit);
    return real(condition, mutex, &until);
  }
  return wait_until(condition, mutex, clock_of(condition), limit);
}
SDSM_ENTRY int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                      const timespec* limit) {
  SDSM_NEXT_FUNCTION NextFunction<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)> real{
      "pthread_cond_clockwait"};
  if (!engine::has_object(condition)) {
    const timespec until = program::real_limit(clock, *limit);
    return real(condition, mutex, clock, &until);
  }
  return wait_until(condition, mutex, clock, limit);
}
SDSM_SHARED_ENTRY(int, pthread_cond_signal, (pthread_cond_t * condition) noexcept, condition, wake(condition, 1),
                  real(condition))
SDSM_SHARED_ENTRY(int, pthread_cond_broadcast, (pthread_cond_t * condition) noexcept, condition,
                  wake(condition, everybody), real(condition))

// C11's, which are the same in the C library.
namespace {
pthread_cond_t* as_posix(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}
}  // namespace

SDSM_ENTRY_AS(int, cnd_wait, (cnd_t * condition, mtx_t* mutex),
              c11_answer(pthread_cond_wait(as_posix(condition), as_posix(mutex))))
SDSM_ENTRY_AS(int, cnd_timedwait, (cnd_t * condition, mtx_t* mutex, const timespec* limit),
              c11_answer(pthread_cond_timedwait(as_posix(condition), as_posix(mutex), limit)))
SDSM_ENTRY_AS(int, cnd_signal, (cnd_t * condition), c11_answer(pthread_cond_signal(as_posix(condition))))
SDSM_ENTRY_AS(int, cnd_broadcast, (cnd_t * condition), c11_answer(pthread_cond_broadcast(as_posix(condition))))

namespace {

/// A wait may end early, as it may at any time; the caller then checks again. It has to. A thread that changes the
/// variable by a plain store, and sees no waiter in its own copy, wakes nobody. Nor does it change the word, where that
/// is another one (the C++ library's, of small variables). And a caller that has lost its compare-and-exchanges to
/// others waits for another value than it found before (std::counting_semaphore: 2 of 2, which nobody changes).
enum class Early : std::uint8_t { may_end, never };

/// The kernel's answer: negative errors. `limit`: by the clock; null: none.
long wait_for_change(const volatile std::uint32_t* word, std::uint32_t expected, clockid_t clock, const timespec* limit,
                     Early early) {
  const auto left_ns = [&](std::uint64_t& ns) { return limit == nullptr || patience_until(clock, limit, ns); };
  std::uint64_t patience_ns = engine::for_ever;
  if (!left_ns(patience_ns)) return -EINVAL;
  // Enlists first, then checks: a thread that changes the word later finds the caller when it wakes.
  engine::enlist(word);
  for (bool is_first = true;; is_first = false) {
    engine::see_all();
    if (*word != expected) {
      if (!is_first) {
        engine::leave(word);
        return 0;
      }
      // It never waited: a wake that found it is another's.
      if (engine::await(word, 0)) engine::wake(word, 1);
      return -EAGAIN;
    }
    const bool is_last = patience_ns <= engine::time_between_polls_ns;
    const bool goes_on = !is_last && early == Early::never;
    if (engine::await(word, std::min(patience_ns, engine::time_between_polls_ns), goes_on)) return 0;
    if (is_last) return -ETIMEDOUT;
    if (!goes_on) return 0;
    left_ns(patience_ns);
  }
}

/// The limit that many seconds from now, as the kernel has it: false if it takes no such time.
bool add_now(const timespec& left, timespec& limit) {
  constexpr long second_ns = 1'000'000'000;
  constexpr time_t most_seconds = 1'000'000'000;
  if (left.tv_sec < 0 || left.tv_nsec < 0 || left.tv_nsec >= second_ns) return false;
  program::show_clock(CLOCK_MONOTONIC, limit);
  limit.tv_nsec += left.tv_nsec;
  limit.tv_sec += std::min(left.tv_sec, most_seconds) + limit.tv_nsec / second_ns;
  limit.tv_nsec %= second_ns;
  return true;
}

/// `compared`: the word's value for FUTEX_CMP_REQUEUE, the mask for FUTEX_WAKE_BITSET.
long use_futex(const volatile std::uint32_t* word, int operation, std::uint32_t value, const timespec* limit,
               std::uint32_t compared) {
  const clockid_t clock = (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  timespec from_now{};
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAKE: return engine::wake(word, value);
    // Masks are not kept: all candidates wake, as they may at any time.
    case FUTEX_WAKE_BITSET: return engine::wake(word, compared == FUTEX_BITSET_MATCH_ANY ? value : everybody);
    case FUTEX_WAIT:
      if (limit != nullptr && !add_now(*limit, from_now)) return -EINVAL;
      // A caller that waits again after an early end would begin the time anew.
      if (limit != nullptr) return wait_for_change(word, value, CLOCK_MONOTONIC, &from_now, Early::never);
      return wait_for_change(word, value, clock, nullptr, Early::may_end);
    case FUTEX_WAIT_BITSET: return wait_for_change(word, value, clock, limit, Early::may_end);
    case FUTEX_CMP_REQUEUE:
      engine::see_all();
      if (*word != compared) return -EAGAIN;
      [[fallthrough]];
    // A thread that would be moved to the other word's queue wakes, as it may at any time.
    case FUTEX_REQUEUE: return engine::wake(word, everybody);
    default:
      program::end_run({"the program gives shared memory to syscall(SYS_futex) for operation ",
                        program::Decimal(static_cast<std::uint64_t>(operation & FUTEX_CMD_MASK)),
                        ", which is not served. Use waits, wakes and requeues, or the C library's locks"});
  }
}

}  // namespace

SDSM_ENTRY long syscall(long number, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, number);
  program::SystemCall call{};
  for (long& argument : call.arguments) argument = va_arg(arguments, long);  // the kernel uses those that it knows
  va_end(arguments);
  const auto* word = static_cast<const volatile std::uint32_t*>(call.at(0));
  long answer = 0;
  if (!program::program_image.is_program(SDSM_CALLER)) {
    answer = program::call_kernel(number, call);
  } else if (number == SYS_futex && engine::has_object(word)) {
    answer = use_futex(word, static_cast<int>(call[1]), static_cast<std::uint32_t>(call[2]),
                       static_cast<const timespec*>(call.at(3)), static_cast<std::uint32_t>(call[5]));
  } else {
    answer = program::serve(number, call, SDSM_CALLER);
  }
  return program::as_library(answer);
}
