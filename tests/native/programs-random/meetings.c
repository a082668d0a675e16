#define _GNU_SOURCE
#include "tests/native/programs-random/meetings.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void need(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "random_program: %s failed in thread %d\n", what, omp_get_thread_num());
  exit(1);
}

/* ---- Locks ---- */

enum ingredient ingredient_of_lock(enum lock_kind kind) {
  if (kind <= simple) return openmp_locks;
  if (kind <= c11_monitor) return library;
  return kind == exchanged || kind == queued ? flags : plain_flags;
}

void make_lock(struct lock* lock, enum lock_kind kind) {
  lock->kind = kind;
  lock->is_busy = 0;
  lock->next = lock->served = 0xfffffffe; /* soon over its end */
  omp_init_lock(&lock->simple);
  omp_init_nest_lock(&lock->nested);
  lock->mutex = kind == recursive ? (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
                                  : (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  lock->condition = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  lock->rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
  pthread_spin_init(&lock->spin, 0);
  sem_init(&lock->semaphore, 0, 1);
  mtx_init(&lock->c11, mtx_plain);
  cnd_init(&lock->c11_condition);
}

void destroy_lock(struct lock* lock) {
  omp_destroy_lock(&lock->simple);
  omp_destroy_nest_lock(&lock->nested);
  need(pthread_mutex_destroy(&lock->mutex) == 0, "pthread_mutex_destroy");
  need(pthread_cond_destroy(&lock->condition) == 0, "pthread_cond_destroy");
  need(pthread_rwlock_destroy(&lock->rwlock) == 0, "pthread_rwlock_destroy");
  pthread_spin_destroy(&lock->spin);
  sem_destroy(&lock->semaphore);
  mtx_destroy(&lock->c11);
  cnd_destroy(&lock->c11_condition);
}

static struct timespec much_later(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec += 3600;
  return time;
}

static void enter_by_compare_exchange(int* is_busy) {
  for (int free = 0; !__atomic_compare_exchange_n(is_busy, &free, 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED); free = 0) {
    __builtin_ia32_pause();
  }
}

void enter(struct lock* lock, uint64_t variant) {
  switch (lock->kind) {
    case nested:
      omp_set_nest_lock(&lock->nested);
      if (variant % 2 == 0) omp_set_nest_lock(&lock->nested);
      break;
    case simple:
      if (variant % 2 == 0 || !omp_test_lock(&lock->simple)) omp_set_lock(&lock->simple);
      break;
    case recursive:
      need(pthread_mutex_lock(&lock->mutex) == 0, "pthread_mutex_lock");
      __attribute__((fallthrough)); /* and once more */
    case mutex: need(pthread_mutex_lock(&lock->mutex) == 0, "pthread_mutex_lock"); break;
    case tried:
      while (pthread_mutex_trylock(&lock->mutex) != 0) {
      }
      break;
    case timed: {
      const struct timespec end = much_later();
      need(pthread_mutex_timedlock(&lock->mutex, &end) == 0, "pthread_mutex_timedlock");
      break;
    }
    case spin: need(pthread_spin_lock(&lock->spin) == 0, "pthread_spin_lock"); break;
    case writer: need(pthread_rwlock_wrlock(&lock->rwlock) == 0, "pthread_rwlock_wrlock"); break;
    case semaphore: need(sem_wait(&lock->semaphore) == 0, "sem_wait"); break;
    case c11: need(mtx_lock(&lock->c11) == thrd_success, "mtx_lock"); break;
    case monitor:
      pthread_mutex_lock(&lock->mutex);
      while (lock->is_busy) need(pthread_cond_wait(&lock->condition, &lock->mutex) == 0, "pthread_cond_wait");
      lock->is_busy = 1;
      pthread_mutex_unlock(&lock->mutex);
      break;
    case c11_monitor:
      mtx_lock(&lock->c11);
      while (lock->is_busy) need(cnd_wait(&lock->c11_condition, &lock->c11) == thrd_success, "cnd_wait");
      lock->is_busy = 1;
      mtx_unlock(&lock->c11);
      break;
    case exchanged:
      while (__atomic_exchange_n(&lock->is_busy, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
      break;
    case compared: enter_by_compare_exchange(&lock->is_busy); break;
    case queued: {
      const unsigned own = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);
      while (__atomic_fetch_add(&lock->served, 0, __ATOMIC_ACQUIRE) != own) sched_yield();
      break;
    }
    case plain_queued: {
      const unsigned own = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);
      while (__atomic_load_n(&lock->served, __ATOMIC_ACQUIRE) != own) {
      }
      break;
    }
    default: need(0, "entering a critical section as a lock");
  }
}

void leave(struct lock* lock, uint64_t variant) {
  switch (lock->kind) {
    case nested:
      if (variant % 2 == 0) omp_unset_nest_lock(&lock->nested);
      omp_unset_nest_lock(&lock->nested);
      break;
    case simple: omp_unset_lock(&lock->simple); break;
    case recursive:
      need(pthread_mutex_unlock(&lock->mutex) == 0, "pthread_mutex_unlock");
      __attribute__((fallthrough)); /* and once more */
    case mutex:
    case tried:
    case timed: need(pthread_mutex_unlock(&lock->mutex) == 0, "pthread_mutex_unlock"); break;
    case spin: pthread_spin_unlock(&lock->spin); break;
    case writer: need(pthread_rwlock_unlock(&lock->rwlock) == 0, "pthread_rwlock_unlock"); break;
    case semaphore: sem_post(&lock->semaphore); break;
    case c11: mtx_unlock(&lock->c11); break;
    case monitor:
      pthread_mutex_lock(&lock->mutex);
      lock->is_busy = 0;
      if (variant % 2 == 0) pthread_cond_signal(&lock->condition);
      pthread_mutex_unlock(&lock->mutex);
      if (variant % 2 != 0) pthread_cond_broadcast(&lock->condition);
      break;
    case c11_monitor:
      mtx_lock(&lock->c11);
      lock->is_busy = 0;
      mtx_unlock(&lock->c11);
      cnd_signal(&lock->c11_condition);
      break;
    case exchanged: __atomic_exchange_n(&lock->is_busy, 0, __ATOMIC_RELEASE); break;
    case compared: __atomic_store_n(&lock->is_busy, 0, __ATOMIC_RELEASE); break;
    case queued: __atomic_fetch_add(&lock->served, 1, __ATOMIC_RELEASE); break;
    case plain_queued: __atomic_store_n(&lock->served, lock->served + 1, __ATOMIC_RELEASE); break;
    default: need(0, "leaving a critical section as a lock");
  }
}

int enter_as_reader(struct lock* lock) {
  if (lock->kind != writer) return 0;
  need(pthread_rwlock_rdlock(&lock->rwlock) == 0, "pthread_rwlock_rdlock");
  return 1;
}

void leave_as_reader(struct lock* lock) {
  need(pthread_rwlock_unlock(&lock->rwlock) == 0, "pthread_rwlock_unlock");
}

/* ---- Atomic operations ---- */

uint64_t result_of(enum operation operation, uint64_t before, uint64_t operand) {
  switch (operation) {
    case op_add: return before + operand;
    case op_subtract: return before - operand;
    case op_or: return before | operand;
    case op_and: return before & operand;
    case op_xor: return before ^ operand;
    case op_least: return before < operand ? before : operand;
    case op_greatest: return before > operand ? before : operand;
    case op_multiply: return before * operand;
    default: return operand;
  }
}

/* Each of C's widths in each of the ways to write an operation. */
#define OPERATIONS(T, BITS)                                                                                          \
  static void compare_and_swap_##BITS(volatile T* p, enum operation operation, T v, uint64_t variant) {              \
    T before = __atomic_load_n(p, __ATOMIC_RELAXED);                                                                 \
    T after;                                                                                                         \
    if (variant % 2 == 0) {                                                                                          \
      do after = (T)result_of(operation, before, v);                                                                 \
      while (!__atomic_compare_exchange_n(p, &before, after, variant % 4 == 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)); \
      return;                                                                                                        \
    }                                                                                                                \
    for (T found; (found = __sync_val_compare_and_swap(p, before, (T)result_of(operation, before, v))) != before;) { \
      before = found;                                                                                                \
    }                                                                                                                \
  }                                                                                                                  \
  static void add_##BITS(volatile T* p, T v, uint64_t variant) {                                                     \
    switch (variant % 6) {                                                                                           \
      case 0: __atomic_fetch_add(p, v, __ATOMIC_RELAXED); break;                                                     \
      case 1: __sync_fetch_and_add(p, v); break;                                                                     \
      case 2: compare_and_swap_##BITS(p, op_add, v, variant >> 8); break;                                            \
      case 3: __sync_sub_and_fetch(p, (T)-v); break;                                                                 \
      case 4: _Pragma("omp atomic seq_cst")* p += v; break;                                                          \
      default: _Pragma("omp atomic")* p += v;                                                                        \
    }                                                                                                                \
  }                                                                                                                  \
  static void or_##BITS(volatile T* p, T v, uint64_t variant) {                                                      \
    if (variant % 3 == 0) {                                                                                          \
      __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                                                     \
    } else if (variant % 3 == 1) {                                                                                   \
      _Pragma("omp atomic")* p |= v;                                                                                 \
    } else {                                                                                                         \
      compare_and_swap_##BITS(p, op_or, v, variant >> 8);                                                            \
    }                                                                                                                \
  }                                                                                                                  \
  static void and_##BITS(volatile T* p, T v, uint64_t variant) {                                                     \
    if (variant % 3 == 0) {                                                                                          \
      __sync_fetch_and_and(p, v);                                                                                    \
    } else if (variant % 3 == 1) {                                                                                   \
      _Pragma("omp atomic")* p &= v;                                                                                 \
    } else {                                                                                                         \
      compare_and_swap_##BITS(p, op_and, v, variant >> 8);                                                           \
    }                                                                                                                \
  }                                                                                                                  \
  static void xor_##BITS(volatile T* p, T v, uint64_t variant) {                                                     \
    if (variant % 3 == 0) {                                                                                          \
      __atomic_xor_fetch(p, v, __ATOMIC_RELEASE);                                                                    \
    } else if (variant % 3 == 1) {                                                                                   \
      _Pragma("omp atomic")* p ^= v;                                                                                 \
    } else {                                                                                                         \
      compare_and_swap_##BITS(p, op_xor, v, variant >> 8);                                                           \
    }                                                                                                                \
  }                                                                                                                  \
  static void store_##BITS(volatile T* p, T v, uint64_t variant) {                                                   \
    switch (variant % 4) {                                                                                           \
      case 0: __atomic_store_n(p, v, __ATOMIC_RELAXED); break;                                                       \
      case 1: __atomic_store_n(p, v, __ATOMIC_SEQ_CST); break;                                                       \
      case 2: __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL); break;                                                    \
      default: _Pragma("omp atomic write")* p = v;                                                                   \
    }                                                                                                                \
  }                                                                                                                  \
  static void update_##BITS(volatile T* p, enum operation operation, T v, uint64_t variant) {                        \
    switch (operation) {                                                                                             \
      case op_add: add_##BITS(p, v, variant); break;                                                                 \
      case op_subtract: add_##BITS(p, (T)-v, variant); break;                                                        \
      case op_or: or_##BITS(p, v, variant); break;                                                                   \
      case op_and: and_##BITS(p, v, variant); break;                                                                 \
      case op_xor: xor_##BITS(p, v, variant); break;                                                                 \
      case op_store_same:                                                                                            \
      case op_store_any: store_##BITS(p, v, variant); break;                                                         \
      default: compare_and_swap_##BITS(p, operation, v, variant);                                                    \
    }                                                                                                                \
  }                                                                                                                  \
  static T fetch_##BITS(volatile T* p, enum operation operation, T v, uint64_t variant) {                            \
    T old;                                                                                                           \
    if (operation == op_exchange) {                                                                                  \
      if (variant % 2 == 0) return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                      \
      _Pragma("omp atomic capture") {                                                                                \
        old = *p;                                                                                                    \
        *p = v;                                                                                                      \
      }                                                                                                              \
      return old;                                                                                                    \
    }                                                                                                                \
    switch (variant % 4) {                                                                                           \
      case 0: return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);                                                     \
      case 1: return (T)(__atomic_add_fetch(p, v, __ATOMIC_SEQ_CST) - v);                                            \
      case 2:                                                                                                        \
        old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                                  \
        while (!__atomic_compare_exchange_n(p, &old, (T)(old + v), 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {         \
        }                                                                                                            \
        return old;                                                                                                  \
      default:                                                                                                       \
        _Pragma("omp atomic capture") {                                                                              \
          old = *p;                                                                                                  \
          *p += v;                                                                                                   \
        }                                                                                                            \
        return old;                                                                                                  \
    }                                                                                                                \
  }                                                                                                                  \
  static T load_##BITS(volatile T* p, uint64_t variant) {                                                            \
    T found;                                                                                                         \
    switch (variant % 4) {                                                                                           \
      case 0: return __atomic_load_n(p, __ATOMIC_RELAXED);                                                           \
      case 1: return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                           \
      case 2: return __atomic_fetch_or(p, 0, __ATOMIC_ACQUIRE);                                                      \
      default: _Pragma("omp atomic read") found = *p; return found;                                                  \
    }                                                                                                                \
  }
OPERATIONS(uint8_t, 8)
OPERATIONS(uint16_t, 16)
OPERATIONS(uint32_t, 32)
OPERATIONS(uint64_t, 64)

void update(volatile void* place, unsigned bytes, enum operation operation, uint64_t operand, uint64_t variant) {
  switch (bytes) {
    case 1: update_8(place, operation, (uint8_t)operand, variant); break;
    case 2: update_16(place, operation, (uint16_t)operand, variant); break;
    case 4: update_32(place, operation, (uint32_t)operand, variant); break;
    default: update_64(place, operation, operand, variant);
  }
}

uint64_t fetch_and(volatile void* place, unsigned bytes, enum operation operation, uint64_t operand, uint64_t variant) {
  switch (bytes) {
    case 1: return fetch_8(place, operation, (uint8_t)operand, variant);
    case 2: return fetch_16(place, operation, (uint16_t)operand, variant);
    case 4: return fetch_32(place, operation, (uint32_t)operand, variant);
    default: return fetch_64(place, operation, operand, variant);
  }
}

uint64_t load(volatile void* place, unsigned bytes, uint64_t variant) {
  switch (bytes) {
    case 1: return load_8(place, variant);
    case 2: return load_16(place, variant);
    case 4: return load_32(place, variant);
    default: return load_64(place, variant);
  }
}

void update_wide(volatile unsigned __int128* place, uint64_t low, uint64_t high, uint64_t variant) {
  unsigned __int128 before = variant % 2 == 0 ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : 0;
  for (;;) {
    const unsigned __int128 after =
        (unsigned __int128)((uint64_t)(before >> 64) + high) << 64 | (uint64_t)((uint64_t)before + low);
    if (variant % 2 == 0) {
      if (__atomic_compare_exchange_n(place, &before, after, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
    } else {
      const unsigned __int128 found = __sync_val_compare_and_swap(place, before, after);
      if (found == before) return;
      before = found;
    }
  }
}

/* ---- Signals ---- */

enum ingredient ingredient_of_signal(enum signal_kind kind) {
  if (kind <= by_comparison) return flags;
  if (kind == read_plainly) return read_flags;
  return kind <= flushed ? plain_flags : library;
}

void make_signal(struct signal* signal, enum signal_kind kind) {
  signal->kind = kind;
  signal->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  signal->condition = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  signal->rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
  for (unsigned i = 0; i < most_waiters; ++i) sem_init(&signal->semaphore[i], 0, 0);
}

static void flush(void){
#pragma omp flush
}
#define CASES(T, BITS)                                                                    \
  static uint64_t plain_##BITS(volatile T* p) {                                           \
    return *p;                                                                            \
  }                                                                                       \
  static void set_##BITS(volatile T* p, T value) {                                        \
    *p = value;                                                                           \
  }                                                                                       \
  static uint64_t acquire_##BITS(volatile T* p) {                                         \
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);                                          \
  }                                                                                       \
  static void release_##BITS(volatile T* p, T value, uint64_t variant) {                  \
    if (variant % 2 == 0) {                                                               \
      __atomic_store_n(p, value, __ATOMIC_RELEASE);                                       \
    } else {                                                                              \
      _Pragma("omp atomic write release")* p = value;                                     \
    }                                                                                     \
  }                                                                                       \
  static uint64_t compared_##BITS(volatile T* p, T value) {                               \
    T found = value;                                                                      \
    __atomic_compare_exchange_n(p, &found, value, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE); \
    return found;                                                                         \
  }
CASES(uint8_t, 8) CASES(uint16_t, 16) CASES(uint32_t, 32) CASES(uint64_t, 64)
#define BY_WIDTH(FUNCTION, ...)                        \
  (bytes == 1   ? (uint64_t)FUNCTION##_8(__VA_ARGS__)  \
   : bytes == 2 ? (uint64_t)FUNCTION##_16(__VA_ARGS__) \
   : bytes == 4 ? (uint64_t)FUNCTION##_32(__VA_ARGS__) \
                : (uint64_t)FUNCTION##_64(__VA_ARGS__))

    void await(struct signal* signal, volatile void* place, unsigned bytes, uint64_t value, unsigned self) {
  switch (signal->kind) {
    case by_exchange:
    case by_addition:
      while (fetch_and(place, bytes, op_add, 0, 0) != value) __builtin_ia32_pause();
      break;
    case by_comparison:
      while (BY_WIDTH(compared, place, value) != value) sched_yield();
      break;
    case read_plainly:
    case released:
      while (BY_WIDTH(acquire, place) != value) {
      }
      break;
    case flushed:
      while (BY_WIDTH(plain, place) != value) {
        flush();
      }
      flush();
      break;
    case by_semaphores: need(sem_wait(&signal->semaphore[self]) == 0, "sem_wait"); break;
    case by_condition:
      pthread_mutex_lock(&signal->mutex);
      while (BY_WIDTH(plain, place) != value) pthread_cond_wait(&signal->condition, &signal->mutex);
      pthread_mutex_unlock(&signal->mutex);
      break;
    case by_mutex:
      for (uint64_t found = ~value; found != value;) {
        pthread_mutex_lock(&signal->mutex);
        found = BY_WIDTH(plain, place);
        pthread_mutex_unlock(&signal->mutex);
      }
      break;
    default:
      for (uint64_t found = ~value; found != value;) {
        pthread_rwlock_rdlock(&signal->rwlock);
        found = BY_WIDTH(plain, place);
        pthread_rwlock_unlock(&signal->rwlock);
      }
  }
}

static void set(volatile void* place, unsigned bytes, uint64_t value) {
  switch (bytes) {
    case 1: set_8(place, (uint8_t)value); break;
    case 2: set_16(place, (uint16_t)value); break;
    case 4: set_32(place, (uint32_t)value); break;
    default: set_64(place, value);
  }
}
static void release(volatile void* place, unsigned bytes, uint64_t value, uint64_t variant) {
  switch (bytes) {
    case 1: release_8(place, (uint8_t)value, variant); break;
    case 2: release_16(place, (uint16_t)value, variant); break;
    case 4: release_32(place, (uint32_t)value, variant); break;
    default: release_64(place, value, variant);
  }
}

void announce(struct signal* signal, volatile void* place, unsigned bytes, uint64_t value, unsigned next,
              uint64_t variant) {
  switch (signal->kind) {
    case by_addition: fetch_and(place, bytes, op_add, 1, variant); break;
    case by_exchange:
    case by_comparison:
    case read_plainly: fetch_and(place, bytes, op_exchange, value, variant); break;
    case released: release(place, bytes, value, variant); break;
    case flushed:
      flush();
      set(place, bytes, value);
      flush();
      break;
    case by_semaphores:
      set(place, bytes, value);
      sem_post(&signal->semaphore[next]);
      break;
    case by_condition:
      pthread_mutex_lock(&signal->mutex);
      set(place, bytes, value);
      pthread_cond_broadcast(&signal->condition);
      pthread_mutex_unlock(&signal->mutex);
      break;
    case by_mutex:
      pthread_mutex_lock(&signal->mutex);
      set(place, bytes, value);
      pthread_mutex_unlock(&signal->mutex);
      break;
    default:
      pthread_rwlock_wrlock(&signal->rwlock);
      set(place, bytes, value);
      pthread_rwlock_unlock(&signal->rwlock);
  }
}

/* ---- Once ---- */

int __cxa_guard_acquire(uint64_t* guard);
void __cxa_guard_release(uint64_t* guard);

void make_once(struct once* once, uint64_t* guard) {
  once->c = (pthread_once_t)PTHREAD_ONCE_INIT;
  once->c11 = (once_flag)ONCE_FLAG_INIT;
  once->guard = guard;
  once->checked = 0;
  once->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

void do_once(struct once* once, unsigned kind, void (*what)(void)) {
  switch (kind) {
    case 0: need(pthread_once(&once->c, what) == 0, "pthread_once"); break;
    case 1: call_once(&once->c11, what); break;
    case 2: /* as a compiler of C++ spells a static object of a function */
      if (!once->guard) {
        pthread_once(&once->c, what);
      } else if (__atomic_load_n((unsigned char*)once->guard, __ATOMIC_ACQUIRE) == 0 &&
                 __cxa_guard_acquire(once->guard)) {
        what();
        __cxa_guard_release(once->guard);
      }
      break;
    default: /* checked twice, with an operation as the first check */
      if (__atomic_fetch_add(&once->checked, 0, __ATOMIC_ACQUIRE) != 0) return;
      pthread_mutex_lock(&once->mutex);
      if (once->checked == 0) {
        what();
        __atomic_exchange_n(&once->checked, 1, __ATOMIC_RELEASE);
      }
      pthread_mutex_unlock(&once->mutex);
  }
}
