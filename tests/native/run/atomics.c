/* One inline atomic operation of each kind that gcc makes, on lines that the test knows. */
#include <omp.h>
#include <stdio.h>

int shared_number;

int main(void) {
  int before = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    shared_number += 2;
#pragma omp flush
#pragma omp atomic capture seq_cst
    {
      before = shared_number;
      shared_number = 7;
    }
  }
  printf("%d %d\n", before, shared_number);
  return 0;
}
