/* Condition variables of POSIX and C11: a bounded buffer, a gate that opens for all, time limits on both clocks. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "expect.h"
#include "from_now.h"

enum { room = 4, items = 120, phases = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t gate = PTHREAD_COND_INITIALIZER;
static pthread_cond_t monotonic;
static int buffer[room];
static int first, filled, put, taken;
static int phase, arrived;
static long sum;

static mtx_t c11_mutex;
static cnd_t c11_turn;
static int turn;

static void put_items(int from, int step) {
  for (int i = from; i < items; i += step) {
    pthread_mutex_lock(&mutex);
    while (filled == room) pthread_cond_wait(&not_full, &mutex);
    buffer[(first + filled++) % room] = i;
    ++put;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&not_empty);
  }
}

static void take_items(void) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    while (filled == 0 && taken < items) pthread_cond_wait(&not_empty, &mutex);
    if (taken == items) {
      pthread_mutex_unlock(&mutex);
      pthread_cond_broadcast(&not_empty);
      return;
    }
    sum += buffer[first];
    first = (first + 1) % room;
    --filled;
    ++taken;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&mutex);
  }
}

int main(void) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&monotonic, &attributes);
  mtx_init(&c11_mutex, mtx_plain);
  cnd_init(&c11_turn);
  int team = 1;
  int wrong[256] = {0};
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    const int size = omp_get_num_threads();
#pragma omp master
    team = size;
    /* Half of the threads produce; alone, nobody can wait. */
    if (size > 1) {
      if (self % 2 == 0) {
        put_items(self / 2, (size + 1) / 2);
      } else {
        take_items();
      }
    }
#pragma omp barrier
    for (int p = 0; p < phases; ++p) {
      pthread_mutex_lock(&mutex);
      if (++arrived == size) {
        arrived = 0;
        ++phase;
        pthread_cond_broadcast(&gate);
      } else {
        while (phase == p) pthread_cond_wait(&gate, &mutex);
      }
      wrong[self] += phase != p + 1;
      pthread_mutex_unlock(&mutex);
#pragma omp barrier
    }
    mtx_lock(&c11_mutex);
    while (turn % size != self) cnd_wait(&c11_turn, &c11_mutex);
    ++turn;
    cnd_broadcast(&c11_turn);
    mtx_unlock(&c11_mutex);

    /* Nobody wakes these. */
    pthread_mutex_lock(&mutex);
    struct timespec limit = from_now(CLOCK_MONOTONIC, 5);
    int result = 0;
    while (result == 0) result = pthread_cond_timedwait(&monotonic, &mutex, &limit);
    wrong[self] += result != ETIMEDOUT;
    limit = from_now(CLOCK_REALTIME, 5);
    wrong[self] += pthread_cond_clockwait(&gate, &mutex, CLOCK_REALTIME, &limit) != ETIMEDOUT;
    limit = from_now(CLOCK_REALTIME, 2);
    wrong[self] += pthread_cond_timedwait(&gate, &mutex, &limit) != ETIMEDOUT;
    pthread_mutex_unlock(&mutex);
    /* This is woken before its limit. */
    if (self == size - 1) {
      limit = from_now(CLOCK_MONOTONIC, 60000);
      pthread_mutex_lock(&mutex);
      ++arrived;
      while (size > 1 && arrived == 1) wrong[self] += pthread_cond_timedwait(&monotonic, &mutex, &limit) != 0;
      pthread_mutex_unlock(&mutex);
    } else if (self == 0) {
      for (int is_there = 0; !is_there;) {
        pthread_mutex_lock(&mutex);
        is_there = arrived == 1;
        if (is_there) arrived = 2;
        pthread_cond_signal(&monotonic);
        pthread_mutex_unlock(&mutex);
      }
    }
  }
  int bad = 0;
  for (int i = 0; i < team; ++i) bad += wrong[i];
  EXPECT(bad == 0);
  EXPECT(turn == team);
  EXPECT(phase == phases);
  if (team > 1) {
    EXPECT(put == items);
    EXPECT(taken == items);
    EXPECT(sum == (long)items * (items - 1) / 2);
  }
  return expect_status();
}
