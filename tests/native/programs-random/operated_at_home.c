/* A thread reads once a page of its own that it has open, and that another one has long changed by an atomic
 * operation. It has an older copy of what the other one stored before. Prints how often that was older. For 2 nodes of
 * 1 process. */
#include <omp.h>
#include <stdio.h>

#include "sdsm/placement.h"

enum { rounds = 20, page = SDSM_PAGE_BYTES / sizeof(int) };

static void work(int turns) {
  for (volatile int i = 0; i < turns; ++i) {
  }
}

int main(void) {
  /* In turn at home with thread 0 and thread 1. */
  volatile int* const pages = sdsm_galloc(2 * rounds * SDSM_PAGE_BYTES, sdsm_round_robin);
  int older = 0, found = 0;
#pragma omp parallel reduction(+ : older, found)
  for (int round = 0; round < rounds; ++round) {
    volatile int* const flag = pages + (size_t)2 * round * page;
    volatile int* const data = flag + page;
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      const int is_early = *flag == 0 && *data == 0;
      work(10000000);
      if (is_early && *flag == 1) {
        ++found;
        older += *data == 0;
      }
    } else if (omp_get_thread_num() == 1) {
      work(2000000);
      *data = 1;
      __atomic_exchange_n(flag, 1, __ATOMIC_SEQ_CST);
    }
  }
  printf("%d older\n", older);
  if (found == 0) fprintf(stderr, "no operation was between the reads\n");
  return older != 0 || found == 0;
}
