/* Uses every call of the placement header, and says what came back. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sdsm/placement.h"

/* 8 rows of one page. */
static SDSM_PAGE_ALIGNED char array[8][SDSM_PAGE_BYTES];

int main(void) {
  char* block = (char*)sdsm_galloc(5000, sdsm_block);
  if (!block) return 1;
  memset(block, 1, 5000);
  printf("aligned %d\n", (uintptr_t)block % SDSM_PAGE_BYTES == 0 && (uintptr_t)array % SDSM_PAGE_BYTES == 0);
  printf("map %d\n", sdsm_map(array, sizeof array, sdsm_block));
  printf("home of row 5: %d\n", sdsm_home(array[5]));
#pragma omp parallel num_threads(3)
  {
    const struct sdsm_rows rows = sdsm_affinity(array, sizeof array[0], 1, 8);
#pragma omp for ordered schedule(static, 1)
    for (int thread = 0; thread < 3; ++thread) {
#pragma omp ordered
      printf("[%ld,%ld)\n", rows.begin, rows.end);
    }
  }
  sdsm_gfree(block);
  sdsm_gfree(NULL);
  return 0;
}
