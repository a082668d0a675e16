/* Memory of a semaphore, or of a barrier, that becomes another object when it is destroyed, or though nobody destroys
 * it, for which the C library has no need: a mutex or read-write lock is free then, also where an initialiser alone
 * makes it, and a semaphore has what it was set to. */
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

#include "expect.h"

static union {
  sem_t semaphore;
  pthread_barrier_t barrier;
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
} room __attribute__((aligned(64)));
static long count;
static bool destroys;

static void add_under_mutex(long times) {
  if (destroys) {
    EXPECT(pthread_mutex_init(&room.mutex, NULL) == 0);
  } else {
    room.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  }
  count = 0;
#pragma omp parallel
  for (long i = 0; i < times; ++i) {
    pthread_mutex_lock(&room.mutex);
    ++count;
    pthread_mutex_unlock(&room.mutex);
  }
  EXPECT(count == times * omp_get_max_threads());
  if (destroys) EXPECT(pthread_mutex_destroy(&room.mutex) == 0);
}

static void add_under_rwlock(long times) {
  if (destroys) {
    EXPECT(pthread_rwlock_init(&room.rwlock, NULL) == 0);
  } else {
    room.rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
  }
  count = 0;
#pragma omp parallel
  for (long i = 0; i < times; ++i) {
    pthread_rwlock_rdlock(&room.rwlock);
    EXPECT(count < times * omp_get_num_threads());
    pthread_rwlock_unlock(&room.rwlock);
    pthread_rwlock_wrlock(&room.rwlock);
    ++count;
    pthread_rwlock_unlock(&room.rwlock);
  }
  EXPECT(count == times * omp_get_max_threads());
  if (destroys) EXPECT(pthread_rwlock_destroy(&room.rwlock) == 0);
}

/* One thread at a time has a semaphore of 1. At the end `more` is what it may be taken, or what nobody gave back. */
static void add_under_semaphore(long times, int more) {
  EXPECT(sem_init(&room.semaphore, 0, more < 0 ? 1 - (unsigned)more : 1) == 0);
  for (int i = more; i < 0; ++i) EXPECT(sem_wait(&room.semaphore) == 0);
  count = 0;
#pragma omp parallel
  for (long i = 0; i < times; ++i) {
    sem_wait(&room.semaphore);
    ++count;
    sem_post(&room.semaphore);
  }
  EXPECT(count == times * omp_get_max_threads());
  for (int i = 0; i < more; ++i) EXPECT(sem_post(&room.semaphore) == 0);
  if (destroys) EXPECT(sem_destroy(&room.semaphore) == 0);
}

static void meet(void) {
  EXPECT(pthread_barrier_init(&room.barrier, NULL, (unsigned)omp_get_max_threads()) == 0);
#pragma omp parallel
  for (int i = 0; i < 8; ++i) pthread_barrier_wait(&room.barrier);
  if (destroys) EXPECT(pthread_barrier_destroy(&room.barrier) == 0);
}

int main(void) {
  for (int round = 0; round < 4; ++round) {
    destroys = round < 2;
    EXPECT(sem_init(&room.semaphore, 0, 3) == 0);
    if (destroys) EXPECT(sem_destroy(&room.semaphore) == 0);
    add_under_mutex(50);
    meet();
    add_under_semaphore(5, 2);
    add_under_rwlock(5);
    add_under_semaphore(5, -3);
    add_under_rwlock(5);
    meet();
    add_under_mutex(50);
  }
  return expect_status();
}
