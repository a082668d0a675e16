#include <omp.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
static sem_t posted;
static void post(int number) {
  sem_post(&posted);
}
static void tick_every(int us) {
  const struct itimerval timer = {{0, us}, {0, us}};
  setitimer(ITIMER_REAL, &timer, NULL);
}
int main(void) {
  int done[64] = {0};
  sem_init(&posted, 0, 0);
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    signal(SIGALRM, post);
    if (self == omp_get_num_threads() - 1) tick_every(5000);
    for (; done[self] < 10; ++done[self]) sem_wait(&posted);
#pragma omp barrier
    tick_every(0);
  }
  return 0;
}
