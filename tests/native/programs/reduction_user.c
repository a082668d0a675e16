/* reduction over array sections, and with operators that the program declares. */
#include <omp.h>
#include <stdlib.h>

#include "expect.h"

struct extremes {
  double low;
  double high;
  long count;
};

static void widen(struct extremes* to, const struct extremes* from) {
  if (from->low < to->low) to->low = from->low;
  if (from->high > to->high) to->high = from->high;
  to->count += from->count;
}

#pragma omp declare reduction(widen             \
                              : struct extremes \
                              : widen(&omp_out, &omp_in)) initializer(omp_priv = (struct extremes){1e300, -1e300, 0})

enum { n = 5000, bins = 700 };

int main(void) {
  struct extremes all = {0, 0, 0};
#pragma omp parallel for reduction(widen : all)
  for (int i = 0; i < n; ++i) {
    const double value = (double)(i * 7919 % n) - 2000;
    const struct extremes one = {value, value, 1};
    widen(&all, &one);
  }
  EXPECT(all.low == -2000 && all.high == n - 1 - 2000 && all.count == n);

  // A whole array, of more than a page.
  static long histogram[bins];
#pragma omp parallel for reduction(+ : histogram)
  for (int i = 0; i < n; ++i) histogram[i % bins] += i;
  static long expected[bins];
  for (int i = 0; i < n; ++i) expected[i % bins] += i;
  int right = 1;
  for (int k = 0; k < bins; ++k) right &= histogram[k] == expected[k];
  EXPECT(right);

  // A section of allocated memory, of a length known at run time.
  const int length = atoi("300");
  double* sums = calloc(bins, sizeof *sums);
  EXPECT(sums != NULL);
  if (!sums) return expect_status();
#pragma omp parallel for reduction(+ : sums [100:length]) schedule(dynamic, 50)
  for (int i = 0; i < n; ++i) sums[100 + i % length] += 1;
  right = 1;
  for (int k = 0; k < bins; ++k) {
    const int bin = k - 100;
    const int times = bin >= 0 && bin < length ? n / length + (bin < n % length) : 0;
    right &= sums[k] == times;
  }
  EXPECT(right);
  free(sums);

  int table[3][4] = {{0}};
#pragma omp parallel for reduction(max : table) num_threads(3)
  for (int i = 0; i < 12; ++i) table[i / 4][i % 4] = i;
  right = 1;
  for (int i = 0; i < 12; ++i) right &= table[i / 4][i % 4] == i;
  EXPECT(right);
  return expect_status();
}
