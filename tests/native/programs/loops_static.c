/* for with static schedules: shares, chunks, steps, collapse, nowait, empty loops, simd. */
#include <omp.h>
#include <string.h>

#include "expect.h"

enum { n = 5000 };
static int count[n];
static int owner[n];

static int all_are(int value) {
  for (int i = 0; i < n; ++i) {
    if (count[i] != value) return 0;
  }
  return 1;
}

int main(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) ++count[i];
  EXPECT(all_are(1));

#pragma omp parallel
  {
#pragma omp for
    for (int i = n - 1; i >= 0; --i) ++count[i];
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; ++i) ++count[i];
      // Equal bounds and schedule give equal shares, so no barrier is needed in between.
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; ++i) ++count[i];
  }
  EXPECT(all_are(4));

  int team = 1;
#pragma omp parallel
  {
#pragma omp for schedule(static, 7)
    for (int i = 0; i < n; ++i) {
      ++count[i];
      owner[i] = omp_get_thread_num();
    }
#pragma omp master
    team = omp_get_num_threads();
  }
  EXPECT(all_are(5));
  int in_turn = 1;
  for (int i = 0; i < n; ++i) in_turn &= owner[i] == i / 7 % team;
  EXPECT(in_turn);

  memset(count, 0, sizeof count);
#pragma omp parallel for schedule(static, 3)
  for (int i = 1; i < n; i += 3) ++count[i];
#pragma omp parallel for
  for (int i = n - 1; i >= 0; i -= 2) ++count[i];
  int strides = 1;
  for (int i = 0; i < n; ++i) strides &= count[i] == (i % 3 == 1) + ((n - 1 - i) % 2 == 0);
  EXPECT(strides);

  memset(count, 0, sizeof count);
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 50; ++i) {
    for (int j = 99; j >= 0; --j) ++count[i * 100 + j];
  }
#pragma omp parallel for collapse(3) schedule(static, 11)
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 10; ++j) {
      for (int k = 0; k < 100; ++k) ++count[(i * 10 + j) * 100 + k];
    }
  }
  EXPECT(all_are(2));

  int runs = 0;
#pragma omp parallel for reduction(+ : runs)
  for (int i = 10; i < 10; ++i) ++runs;
#pragma omp parallel for reduction(+ : runs) schedule(static, 4)
  for (int i = 10; i < 3; ++i) ++runs;
  EXPECT(runs == 0);

#pragma omp parallel for simd schedule(simd : static, 8)
  for (int i = 0; i < n; ++i) ++count[i];
  EXPECT(all_are(3));
  return expect_status();
}
