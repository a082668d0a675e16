/* Memory of a semaphore, or of a barrier, that becomes a mutex when it is destroyed: the mutex is free, and one thread
 * at a time has it. */
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>

#include "expect.h"

static union {
  sem_t semaphore;
  pthread_barrier_t barrier;
  pthread_mutex_t mutex;
} room __attribute__((aligned(64)));
static long count;

static void add_under_mutex(long times) {
  EXPECT(pthread_mutex_init(&room.mutex, NULL) == 0);
  count = 0;
#pragma omp parallel
  for (long i = 0; i < times; ++i) {
    pthread_mutex_lock(&room.mutex);
    ++count;
    pthread_mutex_unlock(&room.mutex);
  }
  EXPECT(count == times * omp_get_max_threads());
  pthread_mutex_destroy(&room.mutex);
}

int main(void) {
  for (int round = 0; round < 3; ++round) {
    EXPECT(sem_init(&room.semaphore, 0, 3) == 0);
    EXPECT(sem_destroy(&room.semaphore) == 0);
    add_under_mutex(50);
    EXPECT(pthread_barrier_init(&room.barrier, NULL, (unsigned)omp_get_max_threads()) == 0);
#pragma omp parallel
    pthread_barrier_wait(&room.barrier);
    EXPECT(pthread_barrier_destroy(&room.barrier) == 0);
    add_under_mutex(50);
  }
  return expect_status();
}
