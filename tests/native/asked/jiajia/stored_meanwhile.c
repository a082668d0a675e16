// While threads 0 and 2 wait at the barrier at which thread 1's page moves to it from process 0, handlers store to
// it.
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int page[1024] __attribute__((aligned(4096)));
static void store(int number) {
  page[1 + omp_get_thread_num()] = 7;
}
int main(void) {
#pragma omp parallel num_threads(3)
  {
    const int self = omp_get_thread_num();
    const struct itimerval once = {{0, 0}, {0, 200000}};
    signal(SIGALRM, store);
    if (self == 1) page[0] += 5;
    if (self == 1)
      usleep(600000);
    else
      setitimer(ITIMER_REAL, &once, NULL);
#pragma omp barrier
#pragma omp barrier
    if (self == 1) printf("%d %d %d\n", page[0], page[1], page[3]);
#pragma omp barrier
    if (self == 0) printf("%d %d %d\n", page[0], page[1], page[3]);
  }
  return 0;
}
