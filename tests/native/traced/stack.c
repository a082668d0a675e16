/* Threads reach a variable on the initial thread's stack, and one on thread 1's. */
#include <omp.h>

static volatile int* of_thread_1;

int main(void) {
  int total = 0;
  int wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
  {
    volatile int mine = 40 + omp_get_thread_num();
    if (omp_get_thread_num() == 1) of_thread_1 = &mine;
#pragma omp barrier
    if (omp_get_thread_num() == 0) *of_thread_1 = *of_thread_1 + 1;
#pragma omp barrier
    if (mine != (omp_get_thread_num() == 1 ? 42 : 40)) wrong = 1;
#pragma omp critical
    total += mine;
  }
  return wrong == 0 && total == 82 ? 0 : 1;
}
