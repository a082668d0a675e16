// Thread 1 changes 4 MiB of process 0's.
#include <omp.h>
#include <stdio.h>
enum { ints = 1 << 20 };
static int numbers[ints];
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1)
    for (int i = 0; i < ints; ++i) numbers[i] = i + 1;
  int wrong = 0;
  for (int i = 0; i < ints; ++i) wrong += numbers[i] != i + 1;
  printf("%d wrong\n", wrong);
  return 0;
}
