/* A block that grows by one element at a time, to 256 pages. */
#include <stdlib.h>

int main(void) {
  enum { elements = 256 * 512 };
  double* grown = NULL;
  for (int i = 0; i < elements; ++i) {
    grown = realloc(grown, (size_t)(i + 1) * sizeof *grown);
    if (!grown) return 1;
    grown[i] = i;
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < elements; ++i) sum += grown[i];
  free(grown);
  return sum != (double)elements * (elements - 1) / 2;
}
