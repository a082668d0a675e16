/* The program ends by exit() inside a region, with output still in stdio's buffer and an atexit function to run. */
#include <omp.h>
#include <stdlib.h>

#include "expect.h"

static int total;

static void at_exit(void) {
  puts("goodbye");
}

int main(void) {
  atexit(at_exit);
#pragma omp parallel
  {
#pragma omp critical
    ++total;
#pragma omp barrier
#pragma omp master
    exit(total == omp_get_num_threads() ? 0 : 1);
#pragma omp barrier
  }
  return 1;
}
