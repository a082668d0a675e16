/* One store that needs two pages of the initial thread's stack, which others write, too, amid atomic operations: both
 * copies have to stay until it is done. Compilers make such stores of arrays in main for wide registers. */
#include <stdint.h>

#include "expect.h"

typedef double __attribute__((aligned(4), may_alias)) unaligned;

enum { page = 4096, n = 300, before = 170, rounds = 12 };

int main(void) {
  char room[6 * page] = {0};
  char* const border = (char*)(((uintptr_t)room + 3 * page) & ~(uintptr_t)(page - 1));
  /* The last one before the border has 4 bytes on either page. */
  unaligned* const values = (unaligned*)(border + 4 - before * sizeof(double));
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
      values[i] += 0.5;
      sum += values[i];
    }
  }
  for (int i = 0; i < n; ++i) EXPECT(values[i] == 0.5 * rounds);
  EXPECT(sum == 0.5 * n * rounds * (rounds + 1) / 2);
  return expect_status();
}
