/* The C library's mutexes of all kinds, C11's and spin locks: exclusion, what their kinds promise, time limits. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "expect.h"
#include "from_now.h"

enum { rounds = 60, nodes = 40 };

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t by_attributes;
static pthread_spinlock_t spin;
static mtx_t c11;
static mtx_t c11_recursive;

struct node {
  pthread_mutex_t lock;
  long sum;
};

/* What each thread found wrong. */
static int wrong[256];

static void expect_kinds(int* bad) {
  pthread_mutex_lock(&recursive);
  *bad += pthread_mutex_lock(&recursive) != 0;
  *bad += pthread_mutex_trylock(&recursive) != 0;
  for (int i = 0; i < 3; ++i) *bad += pthread_mutex_unlock(&recursive) != 0;
  *bad += pthread_mutex_unlock(&recursive) != EPERM;

  pthread_mutex_lock(&checked);
  *bad += pthread_mutex_lock(&checked) != EDEADLK;
  *bad += pthread_mutex_trylock(&checked) != EBUSY;
  *bad += pthread_mutex_unlock(&checked) != 0;
  *bad += pthread_mutex_unlock(&checked) != EPERM;

  *bad += mtx_lock(&c11_recursive) != thrd_success;
  *bad += mtx_trylock(&c11_recursive) != thrd_success;
  *bad += mtx_unlock(&c11_recursive) != thrd_success;
  *bad += mtx_unlock(&c11_recursive) != thrd_success;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  EXPECT(pthread_mutex_init(&by_attributes, &attributes) == 0);
  EXPECT(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
  EXPECT(mtx_init(&c11, mtx_timed) == thrd_success);
  EXPECT(mtx_init(&c11_recursive, mtx_plain | mtx_recursive) == thrd_success);
  pthread_mutex_t on_stack;
  pthread_mutex_init(&on_stack, NULL);

  int team = 1;
  long counts[7] = {0};
  struct node* graph = malloc(nodes * sizeof *graph);
  EXPECT(graph != NULL);
  if (!graph) return expect_status();
  for (int i = 0; i < nodes; ++i) graph[i] = (struct node){PTHREAD_MUTEX_INITIALIZER, 0};

#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    int* bad = &wrong[self];
#pragma omp master
    team = omp_get_num_threads();
    for (int i = 0; i < rounds; ++i) {
      pthread_mutex_lock(&plain);
      ++counts[0];
      pthread_mutex_unlock(&plain);
      while (pthread_mutex_trylock(&adaptive) != 0) {
      }
      ++counts[1];
      pthread_mutex_unlock(&adaptive);
      pthread_spin_lock(&spin);
      ++counts[2];
      pthread_spin_unlock(&spin);
      mtx_lock(&c11);
      ++counts[3];
      mtx_unlock(&c11);
      pthread_mutex_lock(&on_stack);
      ++counts[4];
      pthread_mutex_unlock(&on_stack);
      pthread_mutex_lock(&by_attributes);
      pthread_mutex_lock(&by_attributes);
      ++counts[5];
      pthread_mutex_unlock(&by_attributes);
      ++counts[5];
      pthread_mutex_unlock(&by_attributes);
      const struct timespec long_wait = from_now(CLOCK_MONOTONIC, 60000);
      *bad += pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &long_wait) != 0;
      ++counts[6];
      pthread_mutex_unlock(&plain);
      const int from = (self * 7 + i) % nodes;
      const int to = (from + 1 + i % (nodes - 1)) % nodes;
      pthread_mutex_lock(&graph[from < to ? from : to].lock);
      pthread_mutex_lock(&graph[from < to ? to : from].lock);
      graph[from].sum -= i;
      graph[to].sum += i;
      pthread_mutex_unlock(&graph[to].lock);
      pthread_mutex_unlock(&graph[from].lock);
    }
    expect_kinds(bad);
  }
  for (int i = 0; i < 7; ++i) EXPECT(counts[i] == (i == 5 ? 2L : 1L) * rounds * team);
  long total = 0;
  for (int i = 0; i < nodes; ++i) {
    total += graph[i].sum;
    EXPECT(pthread_mutex_destroy(&graph[i].lock) == 0);
  }
  EXPECT(total == 0);
  free(graph);

  /* A mutex that another thread holds: who tries finds it busy, who waits learns when the time is over. */
  pthread_mutex_lock(&plain);
  pthread_spin_lock(&spin);
  mtx_lock(&c11);
#pragma omp parallel
  if (omp_get_thread_num() > 0) {
    int* bad = &wrong[omp_get_thread_num()];
    *bad += pthread_mutex_trylock(&plain) != EBUSY;
    *bad += pthread_spin_trylock(&spin) != EBUSY;
    *bad += mtx_trylock(&c11) != thrd_busy;
    struct timespec limit = from_now(CLOCK_REALTIME, 5);
    *bad += pthread_mutex_timedlock(&plain, &limit) != ETIMEDOUT;
    limit = from_now(CLOCK_MONOTONIC, 5);
    *bad += pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &limit) != ETIMEDOUT;
    limit.tv_sec -= 10;
    *bad += mtx_timedlock(&c11, &limit) != thrd_timedout;
    limit.tv_nsec = 1000000000;
    *bad += pthread_mutex_timedlock(&plain, &limit) != EINVAL;
    limit = from_now(CLOCK_PROCESS_CPUTIME_ID, 5);
    *bad += pthread_mutex_clocklock(&plain, CLOCK_PROCESS_CPUTIME_ID, &limit) != EINVAL;
  }
  mtx_unlock(&c11);
  pthread_spin_unlock(&spin);
  pthread_mutex_unlock(&plain);

  /* One that was given back before a barrier is free behind it. */
#pragma omp parallel
  for (int turn = 0; turn < omp_get_num_threads(); ++turn) {
    if (turn == omp_get_thread_num()) {
      wrong[turn] += pthread_mutex_trylock(&plain) != 0;
      pthread_mutex_unlock(&plain);
    }
#pragma omp barrier
  }
  int bad = 0;
  for (int i = 0; i < team; ++i) bad += wrong[i];
  EXPECT(bad == 0);
  return expect_status();
}
