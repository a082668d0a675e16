/* Loops over unsigned long long, above 2^63 and downwards, with each schedule. */
#include <limits.h>
#include <omp.h>
#include <string.h>

#include "expect.h"

typedef unsigned long long ull;

enum { n = 1000 };
static int count[n];

static int all_are(int value) {
  for (int i = 0; i < n; ++i) {
    if (count[i] != value) return 0;
  }
  return 1;
}

int main(void) {
  const ull base = ULLONG_MAX - 10 * n;  // far above the largest signed value
#pragma omp parallel for schedule(static)
  for (ull i = base; i < base + n; ++i) ++count[i - base];
#pragma omp parallel for schedule(static, 6)
  for (ull i = base; i < base + n; ++i) ++count[i - base];
#pragma omp parallel for schedule(dynamic, 6)
  for (ull i = base; i < base + n; ++i) ++count[i - base];
#pragma omp parallel for schedule(monotonic : dynamic)
  for (ull i = base; i < base + n; ++i) ++count[i - base];
#pragma omp parallel for schedule(guided, 3)
  for (ull i = base; i < base + n; ++i) ++count[i - base];
#pragma omp parallel for schedule(monotonic : guided)
  for (ull i = base; i < base + n; ++i) ++count[i - base];
#pragma omp parallel for schedule(runtime)
  for (ull i = base; i < base + n; ++i) ++count[i - base];
  EXPECT(all_are(7));

  memset(count, 0, sizeof count);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 3)
    for (ull i = base + n - 1; i >= base; --i) ++count[i - base];
#pragma omp for schedule(guided)
    for (ull i = base + n - 1; i >= base; --i) ++count[i - base];
#pragma omp for schedule(static, 10) nowait
    for (ull i = base + n - 1; i >= base; --i) ++count[i - base];
  }
  EXPECT(all_are(3));

  memset(count, 0, sizeof count);
#pragma omp parallel for schedule(dynamic, 2)
  for (ull i = base; i < base + n; i += 7) ++count[i - base];
#pragma omp parallel for schedule(guided, 2)
  for (ull i = base + n - 1; i > base; i -= 5) ++count[i - base];
  int strides = 1;
  for (int i = 0; i < n; ++i) strides &= count[i] == (i % 7 == 0) + (i > 0 && (n - 1 - i) % 5 == 0);
  EXPECT(strides);

  // Steps and bounds that no 32 bits hold.
  int runs = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : runs)
  for (ull i = 0; i < 1000ull << 50; i += 1ull << 50) ++runs;
  EXPECT(runs == 1000);
  return expect_status();
}
