/* for with dynamic and guided schedules: each iteration runs once, whoever takes it. */
#include <omp.h>
#include <string.h>

#include "expect.h"

enum { n = 3000 };
static int count[n];

static int all_are(int value) {
  for (int i = 0; i < n; ++i) {
    if (count[i] != value) return 0;
  }
  return 1;
}

int main(void) {
  // Combined with parallel.
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < n; ++i) ++count[i];
#pragma omp parallel for schedule(dynamic, 17)
  for (int i = 0; i < n; ++i) ++count[i];
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < n; ++i) ++count[i];
#pragma omp parallel for schedule(guided, 5)
  for (int i = 0; i < n; ++i) ++count[i];
#pragma omp parallel for schedule(monotonic : dynamic, 4)
  for (int i = 0; i < n; ++i) ++count[i];
#pragma omp parallel for schedule(monotonic : guided)
  for (int i = 0; i < n; ++i) ++count[i];
#pragma omp parallel for schedule(nonmonotonic : dynamic, 3)
  for (int i = 0; i < n; ++i) ++count[i];
  EXPECT(all_are(7));

  // Several in one region, with and without their barrier.
  memset(count, 0, sizeof count);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 10)
    for (int i = 0; i < n; ++i) ++count[i];
#pragma omp for schedule(guided, 2)
    for (int i = n - 1; i >= 0; --i) ++count[i];
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < n / 2; ++i) ++count[i];
#pragma omp for schedule(guided) nowait
    for (int i = n / 2; i < n; ++i) ++count[i];
#pragma omp barrier
#pragma omp for schedule(monotonic : dynamic, 3)
    for (int i = 0; i < n; ++i) ++count[i];
#pragma omp for schedule(monotonic : guided, 3)
    for (int i = n - 1; i >= 0; --i) ++count[i];
#pragma omp for schedule(dynamic, 6) collapse(2)
    for (int i = 0; i < n / 10; ++i) {
      for (int j = 0; j < 10; ++j) ++count[i * 10 + j];
    }
  }
  EXPECT(all_are(6));

  // Strides, and bounds that the last chunk runs over.
  memset(count, 0, sizeof count);
#pragma omp parallel for schedule(dynamic, 7)
  for (int i = 2; i < n; i += 3) ++count[i];
#pragma omp parallel for schedule(guided, 7)
  for (long i = n - 1; i > 0; i -= 4) ++count[i];
  int strides = 1;
  for (int i = 0; i < n; ++i) strides &= count[i] == (i % 3 == 2) + (i > 0 && (n - 1 - i) % 4 == 0);
  EXPECT(strides);

  // The same loop entered many times; loops without iterations; more nowait loops than a run-time keeps states for.
  memset(count, 0, sizeof count);
  int runs = 0;
#pragma omp parallel
  {
    for (int round = 0; round < 50; ++round) {
#pragma omp for schedule(dynamic, 100)
      for (int i = 0; i < n; ++i) ++count[i];
    }
#pragma omp for schedule(dynamic) reduction(+ : runs)
    for (int i = 5; i < 5; ++i) ++runs;
    for (int round = 0; round < 40; ++round) {
#pragma omp for schedule(dynamic) nowait
      for (int i = round * 10; i < round * 10 + 10; ++i) ++count[i];
    }
  }
  int rounds = 1;
  for (int i = 0; i < n; ++i) rounds &= count[i] == 50 + (i < 400);
  EXPECT(rounds);
  EXPECT(runs == 0);

  int last = -1;
#pragma omp parallel for schedule(dynamic, 9) lastprivate(last)
  for (int i = 0; i < n; ++i) last = i;
  EXPECT(last == n - 1);
  return expect_status();
}
