/* Nested parallel regions: one level active (the others run with one thread), and two where the run-time allows it. */
#include <omp.h>

#include "expect.h"

int main(void) {
  omp_set_max_active_levels(1);
  int inner_total = 0;
  int wrong = 0;
  int team = 1;
#pragma omp parallel
  {
    const int outer = omp_get_thread_num();
    const int outer_size = omp_get_num_threads();
#pragma omp master
    team = outer_size;
#pragma omp parallel num_threads(4)
    {
#pragma omp critical
      {
        inner_total += 1;
        if (omp_get_level() != 2 || omp_get_num_threads() != (outer_size > 1 ? 1 : 4)) wrong = 1;
        if (omp_get_ancestor_thread_num(1) != outer || omp_get_team_size(1) != outer_size) wrong = 2;
        if (omp_get_ancestor_thread_num(0) != 0 || omp_get_team_size(0) != 1) wrong = 3;
        if (omp_get_ancestor_thread_num(2) != omp_get_thread_num() || omp_get_ancestor_thread_num(3) != -1) wrong = 4;
      }
      // Work-sharing binds to the inner team.
#pragma omp for
      for (int i = 0; i < 8; ++i) {
      }
#pragma omp single
      {}
    }
    if (omp_get_level() != 1 || omp_get_thread_num() != outer || omp_get_num_threads() != outer_size) {
#pragma omp critical
      wrong = 5;
    }
  }
  EXPECT(wrong == 0);
  EXPECT(inner_total == (team > 1 ? team : 4));
  EXPECT(omp_get_level() == 0 && omp_get_active_level() == 0 && !omp_in_parallel());

  // A run-time may support one active level only: then each inner team has one thread, and does all of the work.
  omp_set_max_active_levels(2);
  static int visits[2][300];
#pragma omp parallel num_threads(2)
  {
    int* mine = visits[omp_get_thread_num()];
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(dynamic, 7)
      for (int i = 0; i < 300; ++i) ++mine[i];
#pragma omp for schedule(static)
      for (int i = 0; i < 300; ++i) ++mine[i];
    }
  }
  int right = 1;
  for (int i = 0; i < 300; ++i) right &= visits[0][i] == 2 && visits[1][i] == 2;
  EXPECT(right);
  return expect_status();
}
