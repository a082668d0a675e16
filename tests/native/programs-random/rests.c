/* Does a thread that waits for a flag leave its processor to others? Prints how much processor time it has used for
 * some waits, of which each takes a tenth of a second. For 2 nodes of 1 process. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { waits = 3, step_us = 100000 };

static _Atomic int flags[waits];
static volatile int last;

static double used_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int main(void) {
  double used = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    const double before = used_ms();
    for (int i = 0; i < waits; ++i) {
      while (atomic_load_explicit(flags + i, memory_order_acquire) == 0) {
      }
    }
    while (last != 7) {
    }
    used = used_ms() - before;
  } else {
    for (int i = 0; i < waits; ++i) {
      usleep(step_us);
      atomic_store_explicit(flags + i, 1, memory_order_release);
    }
    usleep(step_us);
    last = 7;
  }
  printf("%.0f ms\n", used);
  return 0;
}
