/* A thread that is not the initial one ends the program by exit() inside a region, while the initial thread waits for
 * it at a barrier: what atexit registered runs, what was printed is printed, and the status is that thread's. */
#include <omp.h>
#include <stdlib.h>

#include "expect.h"

static int total;
static int status = 1;

static void at_exit(void) {
  /* Written by the thread that ended the program. */
  puts(status == 0 ? "goodbye" : "too early");
}

int main(void) {
  atexit(at_exit);
#pragma omp parallel
  {
#pragma omp critical
    ++total;
#pragma omp barrier
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      status = total == omp_get_num_threads() ? 0 : 2;
      exit(status);
    }
#pragma omp barrier
  }
  return 1;
}
