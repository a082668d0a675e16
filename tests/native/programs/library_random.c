/* Random programs of the C library's locks over shared data: library_random [FIRST_SEED [SEEDS]]. A group of cells on
 * several pages has a lock of a kind that the seed chooses; whoever holds it finds all cells of one version, and makes
 * the next. In the end each cell is what all threads together added, which one thread computes again. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

#include "expect.h"

enum { groups = 6, cells = 5, stride = 700, rounds = 25, most_threads = 256 };
enum kind { mutex, recursive, spin, writer, semaphore, c11, monitor, tried, kinds };

struct group {
  enum kind kind;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_spinlock_t spin;
  pthread_rwlock_t rwlock;
  sem_t semaphore;
  mtx_t c11;
  int is_busy; /* of the monitor */
};

static struct group all[groups];
static uint64_t* data; /* group g's cell c: data[(c * groups + g) * stride] */
static pthread_once_t once;
static int once_calls;
static pthread_barrier_t barrier;
static int wrong[most_threads];

static uint64_t next(uint64_t* state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static uint64_t* cell(int group, int number) {
  return &data[(number * groups + group) * stride];
}

static void make(struct group* group, uint64_t* random) {
  group->kind = (enum kind)(next(random) % kinds);
  group->is_busy = 0;
  if (group->kind == recursive) {
    group->mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  } else {
    group->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  }
  group->condition = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
  group->rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
  pthread_spin_init(&group->spin, 0);
  sem_init(&group->semaphore, 0, 1);
  mtx_init(&group->c11, mtx_plain);
}

static void enter(struct group* group) {
  switch (group->kind) {
    case recursive: pthread_mutex_lock(&group->mutex); /* and once more */
    case mutex: pthread_mutex_lock(&group->mutex); break;
    case spin: pthread_spin_lock(&group->spin); break;
    case writer: pthread_rwlock_wrlock(&group->rwlock); break;
    case semaphore: sem_wait(&group->semaphore); break;
    case c11: mtx_lock(&group->c11); break;
    case monitor:
      pthread_mutex_lock(&group->mutex);
      while (group->is_busy) pthread_cond_wait(&group->condition, &group->mutex);
      group->is_busy = 1;
      pthread_mutex_unlock(&group->mutex);
      break;
    default:
      while (pthread_mutex_trylock(&group->mutex) != 0) {
      }
  }
}

static void leave(struct group* group) {
  switch (group->kind) {
    case recursive: pthread_mutex_unlock(&group->mutex); /* and once more */
    case mutex:
    case tried: pthread_mutex_unlock(&group->mutex); break;
    case spin: pthread_spin_unlock(&group->spin); break;
    case writer: pthread_rwlock_unlock(&group->rwlock); break;
    case semaphore: sem_post(&group->semaphore); break;
    case c11: mtx_unlock(&group->c11); break;
    default:
      pthread_mutex_lock(&group->mutex);
      group->is_busy = 0;
      pthread_mutex_unlock(&group->mutex);
      pthread_cond_signal(&group->condition);
  }
}

/* Cell c holds c + 1 times what was added to cell 0. */
static int is_torn(int group) {
  int torn = 0;
  for (int c = 1; c < cells; ++c) torn += *cell(group, c) != *cell(group, 0) * (uint64_t)(c + 1);
  return torn;
}

static void call_once_only(void) {
  ++once_calls;
}

/* One step of a thread; alone: of the oracle, which adds to `sums`. */
static void step(uint64_t* random, int self, uint64_t* sums) {
  const uint64_t choice = next(random);
  const int g = (int)(choice % groups);
  const uint64_t added = next(random) % 1000;
  const int only_reads = choice >> 32 & 1;
  const int meets = choice >> 33 & 1;
  if (sums) {
    if (!only_reads) sums[g] += added;
    return;
  }
  struct group* group = &all[g];
  if (only_reads && group->kind == writer) {
    pthread_rwlock_rdlock(&group->rwlock);
    wrong[self] += is_torn(g);
    pthread_rwlock_unlock(&group->rwlock);
    return;
  }
  if (meets) pthread_once(&once, call_once_only);
  enter(group);
  wrong[self] += is_torn(g);
  for (int c = 0; c < cells && !only_reads; ++c) *cell(g, c) += added * (uint64_t)(c + 1);
  leave(group);
}

static uint64_t stream(uint64_t seed, int thread) {
  return seed * 1000003 + (uint64_t)thread;
}

static void run(uint64_t seed) {
  uint64_t random = seed;
  for (int g = 0; g < groups; ++g) make(&all[g], &random);
  for (int g = 0; g < groups; ++g) {
    for (int c = 0; c < cells; ++c) *cell(g, c) = 0;
  }
  once = (pthread_once_t)PTHREAD_ONCE_INIT;
  once_calls = 0;
  int team = 1;
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
#pragma omp single
    {
      team = omp_get_num_threads();
      pthread_barrier_init(&barrier, NULL, (unsigned)team);
    }
    uint64_t own = stream(seed, self);
    for (int i = 0; i < rounds; ++i) {
      step(&own, self, NULL);
      if (i % 8 == 7) pthread_barrier_wait(&barrier);
    }
    pthread_once(&once, call_once_only);
  }
  uint64_t sums[groups] = {0};
  for (int t = 0; t < team; ++t) {
    uint64_t own = stream(seed, t);
    for (int i = 0; i < rounds; ++i) step(&own, t, sums);
  }
  int bad = 0;
  for (int g = 0; g < groups; ++g) bad += is_torn(g) + (*cell(g, 0) != sums[g]);
  for (int t = 0; t < team; ++t) bad += wrong[t];
  if (bad != 0 || once_calls != 1) fprintf(stderr, "seed %llu: %d wrong\n", (unsigned long long)seed, bad);
  EXPECT(bad == 0);
  EXPECT(once_calls == 1);
}

int main(int argc, char** argv) {
  const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 4;
  data = calloc((size_t)groups * cells * stride, sizeof *data);
  EXPECT(data != NULL);
  if (!data) return expect_status();
  for (uint64_t seed = first; seed < first + count && expect_failures == 0; ++seed) run(seed);
  free(data);
  return expect_status();
}
