/* schedule(runtime) and schedule(auto), with each schedule set in turn. */
#include <omp.h>

#include "expect.h"

enum { n = 2000 };
static int count[n];
static int owner[n];

int main(void) {
  const omp_sched_t schedules[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  int expected = 0;
  for (int s = 0; s < 4; ++s) {
    for (int chunk = 0; chunk <= 8; chunk += 4) {
      omp_set_schedule(schedules[s], chunk);
      omp_sched_t schedule;
      int size;
      omp_get_schedule(&schedule, &size);
      EXPECT((schedule & ~omp_sched_monotonic) == schedules[s]);
      if (chunk > 0 && schedules[s] != omp_sched_auto) EXPECT(size == chunk);
#pragma omp parallel for schedule(runtime)
      for (int i = 0; i < n; ++i) ++count[i];
#pragma omp parallel
      {
#pragma omp for schedule(runtime)
        for (long i = n - 1; i >= 0; --i) ++count[i];
#pragma omp for schedule(monotonic : runtime) nowait
        for (int i = 0; i < n; ++i) owner[i] = omp_get_thread_num();
#pragma omp barrier
#pragma omp for schedule(nonmonotonic : runtime)
        for (int i = 0; i < n; ++i) ++count[i];
#pragma omp for schedule(runtime)
        for (unsigned long long i = 0; i < n; ++i) ++count[i];
      }
      expected += 4;
      int right = 1;
      for (int i = 0; i < n; ++i) right &= count[i] == expected;
      EXPECT(right);
    }
  }

  int team = 1;
  omp_set_schedule(omp_sched_static, 5);
#pragma omp parallel
  {
#pragma omp for schedule(runtime)
    for (int i = 0; i < n; ++i) owner[i] = omp_get_thread_num();
#pragma omp master
    team = omp_get_num_threads();
  }
  int in_turn = 1;
  for (int i = 0; i < n; ++i) in_turn &= owner[i] == i / 5 % team;
  EXPECT(in_turn);

#pragma omp parallel for schedule(auto)
  for (int i = 0; i < n; ++i) ++count[i];
  int right = 1;
  for (int i = 0; i < n; ++i) right &= count[i] == expected + 1;
  EXPECT(right);
  return expect_status();
}
