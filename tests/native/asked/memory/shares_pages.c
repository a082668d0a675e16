// Built as shares_pages with -O1
// Long computing on pages that other nodes change meanwhile, in other words of them; and behind a lock on the same.
#include <omp.h>
#include <stdio.h>
#include <time.h>
enum { words = 512, turns = 1000000 };
static long shared[words] __attribute__((aligned(4096)));
static double used(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
int main(void) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    const int me = omp_get_thread_num();
    long done = 0;
    for (int phase = 0; phase < 2; ++phase) {
#pragma omp critical
      shared[500] += me;
      for (const double end = used() + 0.4; used() < end; done += turns)
        for (long i = 0; i < turns; ++i) ++*(volatile long*)&shared[me * 8];
      sum += shared[me * 8] == done;
#pragma omp barrier
      sum += shared[500] > 0;
#pragma omp barrier
    }
  }
  printf("%ld\n", sum);
}
