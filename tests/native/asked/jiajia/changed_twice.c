// Process 2's handler stores to its page while it waits at a barrier, and holds it up. Meanwhile thread 1's change
// comes, the page moves to thread 1, and that changes the same word once more.
#include <omp.h>
#include <sdsm/placement.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int (*pages)[1024];
static void store(int number) {
  pages[2][1] = 7;
  usleep(1200000);
}
int main(void) {
  pages = sdsm_galloc(3 * sizeof *pages, sdsm_block);
#pragma omp parallel num_threads(3)
  {
    const int self = omp_get_thread_num();
    const struct itimerval once = {{0, 0}, {0, 200000}};
    signal(SIGALRM, store);
    if (self == 2) pages[2][0] = 1;
#pragma omp barrier
    if (self == 1) pages[2][0] += 4;
    if (self == 1) usleep(600000);
    if (self == 2) setitimer(ITIMER_REAL, &once, NULL);
#pragma omp barrier
    if (self == 1) pages[2][0] += 1;
#pragma omp barrier
    if (self == 1) printf("%d %d\n", pages[2][0], pages[2][1]);
#pragma omp barrier
    if (self == 0) printf("%d %d\n", pages[2][0], pages[2][1]);
  }
  return 0;
}
