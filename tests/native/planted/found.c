/* Planted: an atomic operation for each element that is counted.
 *
 *   planted_found [mended] */
#include <stdio.h>
#include <stdlib.h>

static long found;

int main(int argc, char** argv) {
  (void)argv;
  const int count = 1000, is_mended = argc > 1;
  int* values = malloc(count * sizeof *values);
  for (int i = 0; i < count; ++i) values[i] = i * 7919 % 1000;
#pragma omp parallel
  {
    long own = 0;
#pragma omp for
    for (int i = 0; i < count; ++i) {
      if (values[i] <= 300) continue;
      if (is_mended) {
        ++own;
      } else {
#pragma omp atomic
        ++found;
      }
    }
    if (is_mended) {
#pragma omp atomic
      found += own;
    }
  }
  printf("%ld\n", found);
  free(values);
}
