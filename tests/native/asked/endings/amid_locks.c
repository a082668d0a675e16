// Built as amid_locks with -O1
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t todo, done;
static long count, inner;
static int jobs;
static void work(int loops) {
  for (volatile int i = 0; i < loops; ++i) {
  }
}
static void with_criticals(int who, int is_outside, int is_nested) {
  const int self = omp_get_thread_num();
  for (int i = 0;; ++i) {
    work(1000 * (5 + (i * 7 + self * 3) % 11));
#pragma omp critical(outer)
    {
      ++count;
      if (is_nested) {
        work(30000);
#pragma omp critical(inner)
        ++inner;
        work(30000);
#pragma omp critical(inner)
        ++inner;
      }
      if (!is_outside && self == who && i >= 10) exit(0);
    }
    if (is_outside && self == who && i == 40) exit(0);
  }
}
static void in_order(void) {
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < 100; ++i) {
    work(2000 * (i % 7 + 1));
#pragma omp ordered
    if (i == 57) exit(0);
  }
}
static void with_condition(void) {
  if (omp_get_thread_num() > 0) {
    pthread_mutex_lock(&mutex);
    for (;; --jobs) {
      while (jobs == 0) pthread_cond_wait(&condition, &mutex);
    }
  }
  for (int i = 0; i < 5; ++i) {
    work(100000);
    pthread_mutex_lock(&mutex);
    ++jobs;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  }
  exit(0);
}
static void with_semaphores(void) {
  const int others = omp_get_num_threads() - 1;
  if (omp_get_thread_num() > 0) {
    for (;; sem_post(&done)) sem_wait(&todo);
  }
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < others; ++i) sem_post(&todo);
    for (int i = 0; i < others; ++i) sem_wait(&done);
  }
#pragma omp critical
  ++count;
  exit(0);
}
int main(int argc, char** argv) {
  const char* const how = argv[1];
  const int who = atoi(argv[2]);
  sem_init(&todo, 0, 0);
  sem_init(&done, 0, 0);
#pragma omp parallel
  {
    if (strcmp(how, "holding") == 0) with_criticals(who, 0, 0);
    if (strcmp(how, "outside") == 0) with_criticals(who, 1, 0);
    if (strcmp(how, "nested") == 0) with_criticals(who, 0, 1);
    if (strcmp(how, "ordered") == 0) in_order();
    if (strcmp(how, "condition") == 0) with_condition();
    if (strcmp(how, "semaphores") == 0) with_semaphores();
  }
  return 1;
}
