// Built as sums_input with -O0
#include <omp.h>
#include <stdio.h>
int main(void) {
  unsigned long sum = 0;
  for (int sign; (sign = getchar()) != EOF;) sum += sign;
  printf("%lu %d\n", sum, omp_get_max_threads());
  return 0;
}
