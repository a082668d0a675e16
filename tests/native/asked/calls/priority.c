// Built as priority with -O1 -w
#include <omp.h>
#include <stdio.h>
int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  printf("%d\n", omp_get_max_task_priority() * (threads > 1));
}
