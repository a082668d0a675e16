/* ordered(n) with depend(sink) and depend(source): iterations wait for others by number. */
#include "expect.h"

enum { n = 60 };
static int line[n];
static int grid[n][n];

int main(void) {
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 0; i < n; ++i) {
#pragma omp ordered depend(sink : i - 1)
    line[i] = i == 0 ? 1 : line[i - 1] + i;
#pragma omp ordered depend(source)
  }
  int right = 1;
  for (int i = 0; i < n; ++i) right &= line[i] == 1 + i * (i + 1) / 2;
  EXPECT(right);

  static int expected[n][n];
  for (int k = 0; k < n; ++k) grid[0][k] = grid[k][0] = expected[0][k] = expected[k][0] = 1;
#pragma omp parallel for ordered(2) schedule(dynamic)
  for (int i = 1; i < n; ++i) {
    for (int j = 1; j < n; ++j) {
      // What lies outside of the loop's bounds is not waited for.
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 10007;
#pragma omp ordered depend(source)
    }
  }
  right = 1;
  for (int i = 1; i < n; ++i) {
    for (int j = 1; j < n; ++j) {
      expected[i][j] = (expected[i - 1][j] + expected[i][j - 1]) % 10007;
      right &= grid[i][j] == expected[i][j];
    }
  }
  EXPECT(right);
  return expect_status();
}
