/* As many threads as there are: each adds its number under a lock. */
#include <omp.h>

static long total;

int main(void) {
  int team = 0;
#pragma omp parallel
  {
#pragma omp single
    team = omp_get_num_threads();
#pragma omp critical
    total += omp_get_thread_num();
#pragma omp barrier
  }
  return total == (long)team * (team - 1) / 2 ? 0 : 1;
}
