/* omp_nest_lock_t: its owner may take it again; the counts that the calls return. */
#include <omp.h>

#include "expect.h"

static omp_nest_lock_t lock;
static long total;

static void add(int depth, int value) {
  omp_set_nest_lock(&lock);
  total += value;
  if (depth > 1) add(depth - 1, value);
  omp_unset_nest_lock(&lock);
}

int main(void) {
  omp_init_nest_lock(&lock);
  int team = 1;
#pragma omp parallel
  {
#pragma omp master
    team = omp_get_num_threads();
    for (int i = 0; i < 50; ++i) add(4, 1);
  }
  EXPECT(total == 200L * team);

  EXPECT(omp_test_nest_lock(&lock) == 1);
  EXPECT(omp_test_nest_lock(&lock) == 2);
  omp_set_nest_lock(&lock);
  EXPECT(omp_test_nest_lock(&lock) == 4);
  int refused = 0;
#pragma omp parallel reduction(+ : refused) num_threads(3)
  if (omp_get_thread_num() != 0) refused += omp_test_nest_lock(&lock) == 0;
  EXPECT(refused == 2);
  for (int i = 0; i < 4; ++i) omp_unset_nest_lock(&lock);

  int taken = 0;
#pragma omp parallel num_threads(3)
  {
    omp_set_nest_lock(&lock);
    if (omp_test_nest_lock(&lock) == 2) ++taken;
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  }
  EXPECT(taken == 3);
  omp_destroy_nest_lock(&lock);
  return expect_status();
}
