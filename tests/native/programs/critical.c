/* critical: unnamed, named, several at once; mutual exclusion over data on many pages. */
#include <omp.h>

#include "expect.h"

enum { rounds = 200, n = 2048 };
static int total;
static int ledger[n];

static void add_from_function(int value) {
#pragma omp critical(account)
  total += value;
}

int main(void) {
  int unnamed = 0;
  int red = 0;
  int blue = 0;
  int team = 1;
  int overlaps = 0;
  int inside = 0;
#pragma omp parallel
  {
#pragma omp master
    team = omp_get_num_threads();
    for (int i = 0; i < rounds; ++i) {
#pragma omp critical
      {
        ++inside;
        if (inside != 1) ++overlaps;
        unnamed += 2;
        --inside;
      }
#pragma omp critical(red)
      {
        ++red;
        // Another name inside: not the same lock, so no deadlock.
#pragma omp critical(blue)
        ++blue;
      }
#pragma omp critical(account)
      total += 1;
      add_from_function(10);
    }
  }
  EXPECT(overlaps == 0);
  EXPECT(unnamed == 2 * rounds * team);
  EXPECT(red == rounds * team);
  EXPECT(blue == rounds * team);
  EXPECT(total == 11 * rounds * team);

  // Each holder changes what the one before it wrote, all over two pages.
#pragma omp parallel
  for (int i = 0; i < 20; ++i) {
#pragma omp critical(ledger)
    for (int k = 0; k < n; ++k) ledger[k] += k;
  }
  int right = 1;
  for (int k = 0; k < n; ++k) right &= ledger[k] == 20 * team * k;
  EXPECT(right);
  return expect_status();
}
