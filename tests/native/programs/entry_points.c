/* Entry points that gcc 12 does not call by itself, but other releases or options do: called by hand. */
#include "expect.h"

#include <omp.h>
#include <stdbool.h>
#include <string.h>

typedef unsigned long long ull;

void GOMP_parallel_loop_static(void (*)(void*), void*, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_runtime(void (*)(void*), void*, unsigned, long, long, long, unsigned);
void GOMP_parallel_loop_nonmonotonic_runtime(void (*)(void*), void*, unsigned, long, long, long, unsigned);
bool GOMP_loop_static_start(long, long, long, long, long*, long*);
bool GOMP_loop_static_next(long*, long*);
bool GOMP_loop_runtime_next(long*, long*);
bool GOMP_loop_nonmonotonic_runtime_next(long*, long*);
bool GOMP_loop_ull_static_start(bool, ull, ull, ull, ull, ull*, ull*);
bool GOMP_loop_ull_static_next(ull*, ull*);
bool GOMP_loop_ull_runtime_start(bool, ull, ull, ull, ull*, ull*);
bool GOMP_loop_ull_runtime_next(ull*, ull*);
bool GOMP_loop_ull_nonmonotonic_runtime_start(bool, ull, ull, ull, ull*, ull*);
bool GOMP_loop_ull_nonmonotonic_runtime_next(ull*, ull*);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
void GOMP_teams(unsigned, unsigned);

enum { n = 500 };
static int count[n];

static void visit(long from, long to) {
  for (long i = from; i < to; ++i) ++count[i];
}

#define WHOLE_LOOP(next)                    \
  long from, to;                            \
  (void)data;                               \
  while (next(&from, &to)) visit(from, to); \
  GOMP_loop_end_nowait()

static void combined_static(void* data) {
  WHOLE_LOOP(GOMP_loop_static_next);
}
static void combined_runtime(void* data) {
  WHOLE_LOOP(GOMP_loop_runtime_next);
}
static void combined_nonmonotonic(void* data) {
  WHOLE_LOOP(GOMP_loop_nonmonotonic_runtime_next);
}

int main(void) {
  GOMP_parallel_loop_static(combined_static, NULL, 0, 0, n, 1, 7, 0);
  omp_set_schedule(omp_sched_dynamic, 3);
  GOMP_parallel_loop_runtime(combined_runtime, NULL, 0, 0, n, 1, 0);
  GOMP_parallel_loop_nonmonotonic_runtime(combined_nonmonotonic, NULL, 0, 0, n, 1, 0);
#pragma omp parallel
  {
    long from, to;
    if (GOMP_loop_static_start(0, n, 1, 9, &from, &to)) {
      do visit(from, to);
      while (GOMP_loop_static_next(&from, &to));
    }
    GOMP_loop_end();
    ull first, last;
    if (GOMP_loop_ull_static_start(true, 0, n, 1, 9, &first, &last)) {
      do visit((long)first, (long)last);
      while (GOMP_loop_ull_static_next(&first, &last));
    }
    GOMP_loop_end();
    if (GOMP_loop_ull_runtime_start(true, 0, n, 1, &first, &last)) {
      do visit((long)first, (long)last);
      while (GOMP_loop_ull_runtime_next(&first, &last));
    }
    GOMP_loop_end();
    if (GOMP_loop_ull_nonmonotonic_runtime_start(true, 0, n, 1, &first, &last)) {
      do visit((long)first, (long)last);
      while (GOMP_loop_ull_nonmonotonic_runtime_next(&first, &last));
    }
    GOMP_loop_end();
  }
  int right = 1;
  for (int i = 0; i < n; ++i) right &= count[i] == 7;
  EXPECT(right);
  const int threads = omp_get_max_threads();
#pragma omp target
  GOMP_teams(1, 1);
  EXPECT(omp_get_max_threads() == threads);
  return expect_status();
}
