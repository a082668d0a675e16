/* Arrays that are placed after they have been used, and again: no element may be lost on the way to its new home. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "sdsm/placement.h"

enum { words = 8192 };
static SDSM_PAGE_ALIGNED int array[words];
static int seen[64];

static int wrong(int expected_zero) {
  int count = 0;
  for (int i = 0; i < words; ++i) count += array[i] != (expected_zero ? 0 : i + 1);
  return count;
}

int main(void) {
  for (int i = 0; i < words; ++i) array[i] = 7;
#pragma omp parallel
  {
    int sum = 0;
    for (int i = 0; i < words; ++i) sum += array[i];
    seen[omp_get_thread_num()] = sum;
  }
  /* The new homes have copies of what was there before. */
  memset(array, 0, sizeof array);
  sdsm_map(array, sizeof array, sdsm_block);
  const int after_first = wrong(1);
#pragma omp parallel for
  for (int i = 0; i < words; ++i) array[i] = i + 1;
  /* What is there now lies with many homes. */
  sdsm_map(array, sizeof array, sdsm_round_robin);
  const int after_second = wrong(0);
  printf("wrong after the first placement %d, after the second %d\n", after_first, after_second);
  return after_first + after_second > 0;
}
