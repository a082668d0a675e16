/* parallel with num_threads and if; omp_set_num_threads; thousands of regions; shared variables in main's frame. */
#include <omp.h>

#include "expect.h"

enum { most_threads = 64 };

int main(void) {
  const int default_size = omp_get_max_threads();
  int visits[most_threads] = {0};
  int size = 0;
#pragma omp parallel shared(visits, size)
  {
    if (omp_get_thread_num() < most_threads) ++visits[omp_get_thread_num()];
#pragma omp master
    size = omp_get_num_threads();
  }
  EXPECT(size == default_size);
  for (int t = 0; t < most_threads; ++t) EXPECT(visits[t] == (t < size ? 1 : 0));

  for (int asked = 1; asked <= 3; ++asked) {
    int members = 0;
#pragma omp parallel num_threads(asked)
#pragma omp critical
    members += omp_get_num_threads() == asked;
    EXPECT(members == asked);
  }

  for (int wanted = 0; wanted <= 1; ++wanted) {
    int members = 0;
#pragma omp parallel if (wanted) num_threads(2)
#pragma omp critical
    ++members;
    EXPECT(members == 1 + wanted);
  }

  omp_set_num_threads(2);
  EXPECT(omp_get_max_threads() == 2);
#pragma omp parallel
#pragma omp master
  size = omp_get_num_threads();
  EXPECT(size == 2);
  omp_set_num_threads(default_size);

  // Each region reads what the one before wrote in another thread.
  int slots[4] = {0};
  for (int round = 0; round < 2000; ++round) {
#pragma omp parallel num_threads(4) shared(slots) firstprivate(round)
    {
      const int me = omp_get_thread_num();
      const int team = omp_get_num_threads();
      if (round % team == me) slots[me] = slots[(me + team - 1) % team] + 1;
    }
  }
  EXPECT(slots[(2000 - 1) % 4] == 2000);

  // Only the initial thread goes on after a region, and what it has in registers survives.
  long sum = 0;
  for (int round = 0; round < 100; ++round) {
    long part = round;
#pragma omp parallel firstprivate(part)
    part += 1;
    sum += part;
  }
  EXPECT(sum == 4950);
  return expect_status();
}
