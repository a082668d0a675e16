/* Each thread writes a page of its own, and after a barrier reads its neighbour's. */
#include <omp.h>

static volatile double shared[8][512] __attribute__((aligned(4096)));
static volatile double seen[8][512] __attribute__((aligned(4096)));

int main(void) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    const int team = omp_get_num_threads();
    /* 1.0 is 3ff00000 00000000: one of a double's two words changes. */
    shared[me][0] = 1.0;
    shared[me][100] = 1.0;
    shared[me][101] = 1.0;
#pragma omp barrier
    seen[me][0] = shared[(me + 1) % team][0];
  }
  return 0;
}
