/* Semaphores, read-write locks and barriers of the C library. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "expect.h"
#include "from_now.h"

enum { rounds = 40, cells = 2000 };

static sem_t permits, one, empty;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static int inside, most_inside, total;
static int table[cells];
static int columns[256];

/* Before main, when nothing is shared yet. */
static sem_t early;
__attribute__((constructor)) static void make_early(void) {
  sem_init(&early, 0, 3);
}

int main(void) {
  EXPECT(sem_init(&permits, 0, 2) == 0);
  EXPECT(sem_init(&one, 0, 1) == 0);
  EXPECT(sem_init(&empty, 0, 0) == 0);
  int value = -1;
  EXPECT(sem_getvalue(&permits, &value) == 0 && value == 2);
  EXPECT(sem_getvalue(&early, &value) == 0 && value == 3);
  int team = 1;
  int wrong[256] = {0};
  int serial = 0;
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    const int size = omp_get_num_threads();
#pragma omp single
    {
      team = size;
      wrong[0] += pthread_barrier_init(&barrier, NULL, (unsigned)size) != 0;
    }
    for (int i = 0; i < rounds; ++i) {
      sem_wait(&permits);
      sem_wait(&one);
      if (++inside > most_inside) most_inside = inside;
      sem_post(&one);
      sem_wait(&one);
      --inside;
      ++total;
      sem_post(&one);
      sem_post(&permits);
    }
    /* One lets all others go on. */
    if (self > 0) sem_wait(&empty);
    for (int t = 1; self == 0 && t < size; ++t) sem_post(&empty);
    pthread_barrier_wait(&barrier);
    wrong[self] += sem_trywait(&empty) == 0 || errno != EAGAIN;

    for (int i = 0; i < rounds; ++i) {
      if (i % 4 == self % 4) {
        pthread_rwlock_wrlock(&rwlock);
        for (int c = 0; c < cells; ++c) ++table[c];
        wrong[self] += pthread_rwlock_wrlock(&rwlock) != EDEADLK;
        pthread_rwlock_unlock(&rwlock);
      } else {
        pthread_rwlock_rdlock(&rwlock);
        wrong[self] += pthread_rwlock_tryrdlock(&rwlock) != 0; /* readers share */
        for (int c = 1; c < cells; ++c) wrong[self] += table[c] != table[0];
        pthread_rwlock_unlock(&rwlock);
        wrong[self] += pthread_rwlock_trywrlock(&rwlock) != EBUSY;
        pthread_rwlock_unlock(&rwlock);
      }
    }
    /* All read at once: each waits inside for the others. */
    pthread_barrier_wait(&barrier);
    pthread_rwlock_rdlock(&rwlock);
    pthread_barrier_wait(&barrier);
    pthread_rwlock_unlock(&rwlock);

    for (int i = 0; i < rounds; ++i) {
      columns[self] = i * size + self;
      if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
#pragma omp critical
        ++serial;
      }
      for (int t = 0; t < size; ++t) wrong[self] += columns[t] != i * size + t;
      pthread_barrier_wait(&barrier);
    }

    struct timespec limit = from_now(CLOCK_REALTIME, 3);
    wrong[self] += sem_timedwait(&empty, &limit) == 0 || errno != ETIMEDOUT;
    limit = from_now(CLOCK_MONOTONIC, 3);
    wrong[self] += sem_clockwait(&empty, CLOCK_MONOTONIC, &limit) == 0 || errno != ETIMEDOUT;
    pthread_barrier_wait(&barrier);
    if (self == 0) pthread_rwlock_wrlock(&rwlock);
    pthread_barrier_wait(&barrier);
    if (self > 0) {
      limit = from_now(CLOCK_REALTIME, 3);
      wrong[self] += pthread_rwlock_timedrdlock(&rwlock, &limit) != ETIMEDOUT;
      limit = from_now(CLOCK_MONOTONIC, 3);
      wrong[self] += pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &limit) != ETIMEDOUT;
    }
    pthread_barrier_wait(&barrier);
    if (self == 0) pthread_rwlock_unlock(&rwlock);
  }
  int bad = 0;
  for (int i = 0; i < team; ++i) bad += wrong[i];
  EXPECT(bad == 0);
  EXPECT(inside == 0);
  EXPECT(most_inside <= 2);
  EXPECT(total == rounds * team);
  EXPECT(serial == rounds);
  int written = 0;
  for (int t = 0; t < team; ++t) {
    for (int i = 0; i < rounds; ++i) written += i % 4 == t % 4;
  }
  EXPECT(table[0] == written && table[cells - 1] == written);
  sem_post(&permits);
  EXPECT(sem_getvalue(&permits, &value) == 0 && value == 3);
  EXPECT(pthread_barrier_destroy(&barrier) == 0);
  EXPECT(pthread_rwlock_destroy(&rwlock) == 0);
  EXPECT(sem_destroy(&permits) == 0);
  return expect_status();
}
