/* master and masked: one thread by its number, and no barrier. */
#include <omp.h>

#include "expect.h"

int main(void) {
  int by_master = 0;
  int by_masked = 0;
  int by_second = 0;
  int wrong = 0;
  int team = 1;
#pragma omp parallel
  {
#pragma omp master
    {
      ++by_master;
      team = omp_get_num_threads();
      if (omp_get_thread_num() != 0) wrong = 1;
    }
#pragma omp barrier
#pragma omp masked
    ++by_masked;
#pragma omp masked filter(1)
    {
      ++by_second;
      if (omp_get_thread_num() != 1) wrong = 1;
    }
  }
  EXPECT(by_master == 1);
  EXPECT(by_masked == 1);
  EXPECT(by_second == (team > 1 ? 1 : 0));
  EXPECT(!wrong);
  return expect_status();
}
