/* omp_get_* and omp_set_*. */
#include <omp.h>

#include "expect.h"

int main(void) {
  const int threads = omp_get_max_threads();
  EXPECT(threads >= 1);
  EXPECT(omp_get_num_threads() == 1);
  EXPECT(omp_get_thread_num() == 0);
  EXPECT(!omp_in_parallel());
  EXPECT(omp_get_num_procs() >= 1);
  EXPECT(omp_get_thread_limit() >= threads);
  EXPECT(omp_get_level() == 0);
  EXPECT(omp_get_active_level() == 0);
  EXPECT(omp_get_ancestor_thread_num(0) == 0);
  EXPECT(omp_get_team_size(0) == 1);
  EXPECT(omp_get_ancestor_thread_num(1) == -1);
  EXPECT(!omp_in_final());
  EXPECT(omp_get_cancellation() == 0 || omp_get_cancellation() == 1);
  EXPECT(omp_get_max_task_priority() >= 0);
  EXPECT(omp_get_supported_active_levels() >= 1);
  EXPECT(omp_is_initial_device());
  EXPECT(omp_get_num_teams() == 1 && omp_get_team_num() == 0);

  omp_set_dynamic(0);
  EXPECT(!omp_get_dynamic());
  omp_set_max_active_levels(1);
  EXPECT(omp_get_max_active_levels() == 1);

  const double tick = omp_get_wtick();
  EXPECT(tick > 0 && tick < 1);
  const double before = omp_get_wtime();
  const double after = omp_get_wtime();
  EXPECT(after >= before);

  int wrong = 0;
  int sum = 0;
#pragma omp parallel reduction(+ : wrong, sum)
  {
    const int team = omp_get_num_threads();
    wrong += team != threads;
    wrong += omp_get_thread_num() < 0 || omp_get_thread_num() >= team;
    wrong += omp_get_level() != 1;
    wrong += omp_get_active_level() != (team > 1 ? 1 : 0);
    wrong += (omp_in_parallel() != 0) != (team > 1);
    wrong += omp_get_ancestor_thread_num(1) != omp_get_thread_num();
    wrong += omp_get_team_size(1) != team;
    wrong += omp_get_max_threads() < 1;
    wrong += omp_get_wtime() < before;
    sum += omp_get_thread_num();
  }
  EXPECT(wrong == 0);

  /* The default allocator is each thread's own, and a team begins with that of the thread that starts it. */
  omp_set_default_allocator(omp_high_bw_mem_alloc);
#pragma omp parallel reduction(+ : wrong)
  {
    wrong += omp_get_default_allocator() != omp_high_bw_mem_alloc;
#pragma omp barrier
    if (omp_get_thread_num() == 0) omp_set_default_allocator(omp_low_lat_mem_alloc);
#pragma omp barrier
    wrong += omp_get_default_allocator() != (omp_get_thread_num() == 0 ? omp_low_lat_mem_alloc : omp_high_bw_mem_alloc);
  }
  EXPECT(wrong == 0);
  EXPECT(sum == threads * (threads - 1) / 2);
  return expect_status();
}
