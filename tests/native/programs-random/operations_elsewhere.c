/* A thread keeps a copy of a page over a barrier behind which another one changes it by an atomic operation, at a home
 * that is not in their team. For 4 nodes of 1 process. */
#include <omp.h>
#include <stdio.h>

#include "sdsm/placement.h"

enum { rounds = 5, home = 3, ints = SDSM_PAGE_BYTES / sizeof(int) };

int main(void) {
  volatile int* pages = sdsm_galloc(4 * SDSM_PAGE_BYTES, sdsm_round_robin);
  volatile int* const counter = pages + home * ints;
  int wrong = 0;
#pragma omp parallel
  if (omp_get_thread_num() == home) *counter = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel num_threads(2)
    {
      const int is_reader = omp_get_thread_num() == 1;
      if (is_reader && *counter != round) wrong = 1;
#pragma omp barrier
      if (!is_reader) {
#pragma omp atomic
        ++*counter;
      }
#pragma omp barrier
      if (is_reader && *counter != round + 1) wrong = 1;
    }
  }
  printf("%d wrong\n", wrong);
  return wrong;
}
