/* epcc's group of schedules: a loop, with as many iterations for each thread, repeated in one parallel region. */
#include <sdsm/placement.h>

#include "workloads/epcc.h"

void reference_loop(void) {
  for (int k = 0; k < own.repetitions; ++k) {
    for (int i = 0; i < own.iterations; ++i) delay();
  }
}

#define SCHEDULED(name, schedule_clause)                                                       \
  static void time_##name(void) {                                                              \
    _Pragma("omp parallel") for (int k = 0; k < own.repetitions; ++k) {                        \
      _Pragma(schedule_clause) for (int i = 0; i < own.iterations * own.threads; ++i) delay(); \
    }                                                                                          \
  }
SCHEDULED(static, "omp for schedule(static)")
SCHEDULED(static_chunks, "omp for schedule(static, own.size)")
SCHEDULED(dynamic, "omp for schedule(dynamic, own.size)")
SCHEDULED(guided, "omp for schedule(guided, own.size)")

/* Omni's schedule(affinity): each thread runs the iterations whose rows it is the home of. */
static void time_affinity(void) {
#pragma omp parallel
  for (int k = 0; k < own.repetitions; ++k) {
    const struct sdsm_rows rows = sdsm_affinity(own.rows, SDSM_PAGE_BYTES, 0, (long)own.iterations * own.threads);
    for (long i = rows.begin; i < rows.end; ++i) delay();
#pragma omp barrier
  }
}

static int add_chunks(struct directive* all, int count, const char* name, void (*run)(void), int most) {
  for (int size = 1; size <= most; size *= 2) {
    all[count++] = (struct directive){name, run, of_loop, scheduling, size};
  }
  return count;
}

int add_scheduling(struct directive* all, int count, int iterations, int threads) {
  all[count++] = (struct directive){"STATIC", time_static, of_loop, scheduling, 0};
  count = add_chunks(all, count, "STATIC", time_static_chunks, iterations);
  count = add_chunks(all, count, "DYNAMIC", time_dynamic, iterations);
  count = add_chunks(all, count, "GUIDED", time_guided, iterations / threads);
  all[count++] = (struct directive){"AFFINITY", time_affinity, of_loop, scheduling, 0};
  return count;
}
