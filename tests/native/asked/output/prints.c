#include <omp.h>
#include <stdio.h>
int main(void) {
  printf("begin\n");
#pragma omp parallel
  {
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 20; ++i) {
#pragma omp ordered
      printf("turn %d\n", i);
    }
    if (omp_get_thread_num() == omp_get_num_threads() - 1) printf("before the barrier\n");
#pragma omp barrier
    if (omp_get_thread_num() == 0) printf("behind the barrier\n");
  }
  printf("end\n");
}
