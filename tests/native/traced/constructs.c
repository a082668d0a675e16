/* One of each: single, copyprivate, loops with shared state, sections, ordered, a task, a clock read. */
#include <omp.h>

static int hits[64];

int main(void) {
  int value = 0;
  omp_get_wtime();
#pragma omp parallel num_threads(2) firstprivate(value)
  {
#pragma omp single
    hits[0] = 1;
#pragma omp single copyprivate(value)
    value = 3;
#pragma omp for schedule(dynamic, 32) nowait
    for (int i = 0; i < 64; ++i) hits[i] = i;
#pragma omp sections
    {
#pragma omp section
      hits[1] = 1;
#pragma omp section
      hits[2] = 1;
    }
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 2; ++i) {
#pragma omp ordered
      hits[i] = value;
    }
#pragma omp master
    {
#pragma omp task
      hits[3] = 1;
#pragma omp taskwait
    }
  }
  omp_get_wtime();
  return 0;
}
