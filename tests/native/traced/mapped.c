/* Placement calls: a mapped array, a block from galloc, and what the run-time says about homes. */
#include <sdsm/placement.h>

SDSM_PAGE_ALIGNED static char table[8 * 4096];

int main(void) {
  if (sdsm_map(table, sizeof table, sdsm_block) != 0) return 1;
  char* block = sdsm_galloc(8 * 4096, sdsm_block);
  char* round = sdsm_galloc(8 * 4096, sdsm_round_robin);
  int wrong = 0;
#pragma omp parallel num_threads(4) reduction(+ : wrong)
  {
    const int me = omp_get_thread_num();
    table[2 * me * 4096] = 1;
    wrong += sdsm_home(&table[2 * me * 4096]) != me;
    wrong += sdsm_home(&block[(2 * me + 1) * 4096]) != me;
    wrong += sdsm_home(&round[(4 + me) * 4096]) != me;
    wrong += sdsm_home(&wrong) != me;
  }
  sdsm_gfree(block);
  sdsm_gfree(round);
  return wrong == 0 ? 0 : 1;
}
