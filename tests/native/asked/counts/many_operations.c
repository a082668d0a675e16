// Built as many_operations with -O1
#include <omp.h>
#include <stdio.h>
static long counts[2][512] __attribute__((aligned(4096)));
int main(void) {
  const double begun = omp_get_wtime();
#pragma omp parallel
  if (omp_get_thread_num() == 0)
    for (int i = 0; i < 1000; ++i) __atomic_fetch_add(&counts[0][0], 1, __ATOMIC_SEQ_CST);
  printf("%ld %f\n", counts[0][0], omp_get_wtime() - begun);
}
