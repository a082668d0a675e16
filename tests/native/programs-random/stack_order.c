/* A thread stores x, and then y, here or there on threads' stacks; another one sees the new y and then reads x.
 * Prints how often x was older. Stacks are open to their threads, so nobody is notified of what is stored there.
 *
 *   stack_order CASE ROUNDS
 *
 *   fetched       x on thread 0's stack, y on another page of it, which thread 1 fetches when y is there
 *   third         the same with y on thread 2's stack, which thread 0 signals
 *   own           thread 1 stores x on thread 0's stack, y on its own
 *   own-atomic    the same; thread 0 reads y by an atomic operation
 *   operated      y is stored by an atomic operation at its home, on a page that nobody else has asked for
 *   behind        thread 1 stores x on thread 0's stack, then y by an atomic operation, at home with thread 0
 *   two-atomic    thread 2 stores x on thread 1's stack, y on thread 0's; each round ends with an atomic operation
 *   two-pages     the same with x on another page of thread 0's stack, of which thread 2 has a copy first
 *   two-plain     two-atomic without, from a page that it has opened before anybody waits
 *   encoded       thread 2 stores x and y on one page of thread 0's stack, x first; its local peer takes a
 *                 lock meanwhile
 *   local-peers   threads 2 and 3 begin to write stacks of 0 and 1; 2 stores x on one, 3 sees it and
 *                 stores y on the other */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdsm/placement.h"

enum { page = 1024 }; /* integers of one */
#define ALONE __attribute__((aligned(4096)))

static const char* what;
static int rounds;
static volatile int ready ALONE, seen ALONE, flag ALONE, stop ALONE;
static int done ALONE;
static volatile int* volatile place[4] ALONE; /* of threads' stacks */

static int is(const char* name) {
  return strcmp(what, name) == 0;
}
static int now(volatile int* at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
static void set(volatile int* at, int value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}
static void await(volatile int* at, int value) {
  while (now(at) != value) {
  }
}
static void work(int turns) {
  for (volatile int i = 0; i < turns; ++i) {
  }
}

/* Thread 1 has a copy of x's page and reads y when it is there already. Page 0 of `from` has x. */
static int reads_late(int self, volatile int* from, volatile int* y_of_round, int step) {
  const int signals = is("third") ? 2 : 0;
  int older = 0;
  for (int round = 1; round <= rounds; ++round) {
    volatile int* const y = y_of_round + (size_t)round * step;
    if (self == 0) {
      await(&ready, round);
      from[0] = round;
      if (is("operated")) {
        __atomic_exchange_n(y, round, __ATOMIC_SEQ_CST);
      } else {
        set(signals == 0 ? y : &flag, round);
      }
      await(&seen, round);
    } else if (self == 2 && signals == 2) {
      await(&flag, round);
      set(y, round);
    } else if (self == 1) {
      (void)from[0];
      set(&ready, round);
      work(4000000);
      await(y, round);
      older += from[0] != round;
      set(&seen, round);
    }
  }
  return older;
}

/* Before single-writer mode a single read of y may show it. */
static void begin_single_writer_mode(int self) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  flag = self;
}

static int stores_on_own(int self, volatile int* x, volatile int* y) {
  int older = 0;
  if (is("own")) begin_single_writer_mode(self);
  if (self == 1) {
    for (int round = 1; round <= rounds; ++round) {
      *x = round;
      set(y, round);
      work(400000);
    }
  } else if (self == 0) {
    for (int last = 0; last < rounds;) {
      const int value = is("own-atomic") ? __atomic_fetch_add(y, 0, __ATOMIC_ACQ_REL) : now(y);
      if (value != last) older += *x < value;
      last = value;
    }
  }
  return older;
}

static int operates_behind(int self, volatile int* x) {
  int older = 0;
  for (int round = 1; round <= rounds; ++round) {
    if (self == 1) {
      set(x, round);
      __atomic_exchange_n(&flag, round, __ATOMIC_SEQ_CST);
      await(&seen, round);
    } else if (self == 0) {
      await(&flag, round);
      older += *x != round;
      set(&seen, round);
    }
  }
  return older;
}

static int stores_on_two(int self, volatile int* x, volatile int* y) {
  int older = 0;
  begin_single_writer_mode(self);
  if (self == 2) {
    y[1] = x[1] = 1;
    if (is("two-plain")) work(20000000);
    for (int round = 1; round <= rounds; ++round) {
      if (is("two-pages")) (void)now(x);
      if (!is("two-plain")) y[1] = round;
      set(x, round);
      set(y, round);
      if (!is("two-plain")) {
        __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
      } else {
        work(500000);
      }
    }
  } else if (self == 0) {
    volatile unsigned counted[8] = {0};
    if (is("two-plain")) work(3000000);
    /* Registers change, so that no wait is noticed. */
    for (unsigned last = 0, turn = 0; last < (unsigned)rounds; ++turn) {
      const unsigned value = (unsigned)now(y);
      if (!is("two-plain")) counted[turn % 8] += turn;
      if (value != last) older += (unsigned)*x < value;
      last = value;
    }
  }
  return older;
}

static int sends_amid_stores(int self, volatile int* x, volatile int* y, omp_lock_t* lock) {
  int older = 0;
  begin_single_writer_mode(self);
  if (self == 2) {
    for (int round = 1; !stop; ++round) {
      *x = round;
      set(y, round);
    }
  } else if (self == 3) {
    while (!stop) {
      omp_set_lock(lock);
      omp_unset_lock(lock);
      work(20000);
    }
  } else if (self == 0) {
    for (int changes = 0, last = 0; changes < rounds;) {
      const int value = now(y);
      if (value == last) continue;
      older += *x - value < 0;
      last = value;
      ++changes;
    }
    stop = 1;
  }
  return older;
}

static int local_peers_store(int self, volatile int* x, volatile int* y) {
  int older = 0;
  for (int round = 1; round <= rounds; ++round) {
    if (self == 2) {
      await(&seen, round - 1);
      x[1] = round;
      work(100000);
      set(x, round);
    } else if (self == 3) {
      await(&seen, round - 1);
      y[1] = round;
      await(x, round);
      set(y, round);
    } else if (self == 0) {
      await(y, round);
      older += now(x) != round;
      set(&seen, round);
    }
  }
  return older;
}

int main(int argc, char** argv) {
  what = argc > 1 ? argv[1] : "fetched";
  rounds = argc > 2 ? atoi(argv[2]) : 100;
  enum { most = 300 };
  if (rounds > most && (is("fetched") || is("third"))) return 2;
  volatile int* const of_thread_0 = sdsm_galloc((size_t)(rounds + 2) * 2 * 4096, sdsm_round_robin);
  omp_lock_t lock;
  omp_init_lock(&lock);
  int older = 0;
#pragma omp parallel reduction(+ : older)
  {
    const int self = omp_get_thread_num();
    ALONE volatile int own[(most + 2) * page];
    memset((void*)own, 0, sizeof own);
    if (self < 4) place[self] = own;
#pragma omp barrier
    if (is("fetched")) older = reads_late(self, place[0], place[0], page);
    if (is("third")) older = reads_late(self, place[0], place[2], page);
    if (is("operated")) older = reads_late(self, place[0], of_thread_0, 2 * page);
    if (is("own") || is("own-atomic")) older = stores_on_own(self, place[0], place[1]);
    if (is("behind")) older = operates_behind(self, place[0]);
    if (is("two-atomic") || is("two-plain")) older = stores_on_two(self, place[1], place[0]);
    if (is("two-pages")) older = stores_on_two(self, place[0] + page, place[0]);
    if (is("encoded")) older = sends_amid_stores(self, place[0], place[0] + page - 8, &lock);
    if (is("local-peers")) older = local_peers_store(self, place[1], place[0]);
#pragma omp barrier
  }
  omp_destroy_lock(&lock);
  printf("%d older\n", older);
  return older != 0;
}
