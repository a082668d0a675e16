#include <omp.h>
#include <stdio.h>
int main(void) {
  double first = omp_get_wtime(), sum = 0;
  for (int i = 1; i < 100000; ++i) sum += 1.0 / i;
#pragma omp parallel
  __asm__ volatile("");
  double second = omp_get_wtime();
  for (int regions = second - first < 1.5e-3 ? 20 : 1; regions > 0; --regions) {
#pragma omp parallel
    __asm__ volatile("");
  }
  printf("%.12f %.12f %.12f %d\n", first, second, omp_get_wtime(), sum > 1);
}
