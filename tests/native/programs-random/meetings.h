/* What the threads of random_program meet at: locks, atomic operations, signals and things done once, each of many
 * kinds, so that the interpreter need not know how a program would spell them. */
#ifndef SDSM_TESTS_NATIVE_PROGRAMS_RANDOM_MEETINGS_H
#define SDSM_TESTS_NATIVE_PROGRAMS_RANDOM_MEETINGS_H

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <threads.h>

/* What a program may be made of: each a bit. */
enum ingredient {
  cells_alone = 1 << 0, /* plain reads and writes */
  openmp_locks = 1 << 1,
  blocks = 1 << 2,         /* malloc, calloc, realloc, free */
  constructs = 1 << 3,     /* phases that are loops, sections, tasks ... */
  teams = 1 << 4,          /* of other sizes */
  library = 1 << 5,        /* locks, conditions, semaphores, barriers and once of the C library, guards of C++ */
  atomics = 1 << 6,        /* 1 to 16 bytes, with no order of other memory by them */
  flags = 1 << 7,          /* hand-overs and locks by operations that read, change and write at once */
  read_flags = 1 << 8,     /* hand-overs whose waiter loads plainly */
  plain_flags = 1 << 9,    /* hand-overs and locks that a release by a plain store ends */
  copies = 1 << 10,        /* memmove, memcpy and pipes of blocks */
  thread_locals = 1 << 11, /* of other threads, by pointers */
};

/* Locks. */
enum lock_kind {
  critical,
  other_critical,
  nested,
  simple,
  mutex,
  recursive,
  tried,
  timed,
  spin,
  writer,
  semaphore,
  c11,
  monitor,
  c11_monitor,
  exchanged,    /* an integer that whoever enters exchanges */
  compared,     /* the same by compare-exchange, left by a plain store */
  queued,       /* tickets */
  plain_queued, /* tickets, where whose turn it is is loaded and stored plainly */
  lock_kinds,
};
struct lock {
  enum lock_kind kind;
  omp_lock_t simple;
  omp_nest_lock_t nested;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_spinlock_t spin;
  pthread_rwlock_t rwlock;
  sem_t semaphore;
  mtx_t c11;
  cnd_t c11_condition;
  int is_busy;
  unsigned next;
  unsigned served;
};
/* The ingredient that a program with such a lock has. */
enum ingredient ingredient_of_lock(enum lock_kind kind);
void make_lock(struct lock* lock, enum lock_kind kind);
/* Not for the two critical sections, whose beginning and end stand in one block. `variant` chooses between ways. */
void enter(struct lock* lock, uint64_t variant);
void leave(struct lock* lock, uint64_t variant);
/* Whoever only reads may be in with others; 0 if the kind knows no readers. */
int enter_as_reader(struct lock* lock);
void leave_as_reader(struct lock* lock);
void destroy_lock(struct lock* lock);

/* Atomic operations whose order does not matter for what they leave, but for the last three. */
enum operation {
  op_add,
  op_subtract,
  op_or,
  op_and,
  op_xor,
  op_least,
  op_greatest,
  op_multiply,
  op_exchange,
  op_store_same,
  op_store_any,
  operations,
};
uint64_t result_of(enum operation operation, uint64_t before, uint64_t operand);
/* What several threads may store at once to a variable on a stack, which has had the value `before`: any two of these
 * values, `before` among them, are the same or differ in each byte. Where a store changes only some bytes of a word,
 * sdsm run takes it for that of a shorter variable, and warns when it undoes another thread's. */
static inline uint64_t stored_at_once(uint64_t before, uint64_t drawn) {
  return before ^ UINT64_C(0x0101010101010101) * (1 + drawn % 255);
}
/* Does it to `bytes` (1, 2, 4, 8) at `place` in one of the ways that the language has. */
void update(volatile void* place, unsigned bytes, enum operation operation, uint64_t operand, uint64_t variant);
/* Adds or exchanges, and returns what was there. */
uint64_t fetch_and(volatile void* place, unsigned bytes, enum operation operation, uint64_t operand, uint64_t variant);
uint64_t load(volatile void* place, unsigned bytes, uint64_t variant);
/* Adds `low` and `high` to the two halves of 16 bytes at once. */
void update_wide(volatile unsigned __int128* place, uint64_t low, uint64_t high, uint64_t variant);

/* A number that grows, sent by one thread to another; what went before is there when it is seen. */
enum signal_kind {
  by_exchange, /* one operation on both sides */
  by_addition,
  by_comparison,
  read_plainly,
  released, /* plain store, plain load */
  flushed,  /* volatile, omp flush */
  by_semaphores,
  by_condition,
  by_mutex,
  by_rwlock,
  signal_kinds,
};
enum { most_waiters = 64 };
struct signal {
  enum signal_kind kind;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_rwlock_t rwlock;
  sem_t semaphore[most_waiters];
};
enum ingredient ingredient_of_signal(enum signal_kind kind);
void make_signal(struct signal* signal, enum signal_kind kind);
/* The number is in `bytes` at `place`. */
void await(struct signal* signal, volatile void* place, unsigned bytes, uint64_t value, unsigned self);
void announce(struct signal* signal, volatile void* place, unsigned bytes, uint64_t value, unsigned next,
              uint64_t variant);

/* What is done once. */
enum { once_kinds = 4 };
struct once {
  pthread_once_t c;
  once_flag c11;
  uint64_t* guard; /* of a static object, by the ABI of C++: one is never used again */
  uint64_t checked;
  pthread_mutex_t mutex;
};
/* `guard` may be null. */
void make_once(struct once* once, uint64_t* guard);
void do_once(struct once* once, unsigned kind, void (*what)(void));

#endif
