/* ordered(n) with depend(sink) and depend(source): iterations wait for others by number. */
#include "expect.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { n = 60 };
static volatile unsigned long long bound = n; /* that the compiler does not know */
static int line[n];
static int grid[n][n], expected[n][n];

static int is_line(void) {
  int right = 1;
  for (int i = 0; i < n; ++i) right &= line[i] == 1 + i * (i + 1) / 2;
  memset(line, 0, sizeof line);
  return right;
}

/* From 1, as the compiler takes 0 - 1 of an unsigned loop for one of its iterations. */
#define LINE(SCHEDULE, NUMBER)                                                                       \
  _Pragma(SCHEDULE) for (NUMBER i = 1; i <= (NUMBER)bound; ++i) {                                    \
    _Pragma("omp ordered depend(sink : i - 1)") line[i - 1] = i == 1 ? 1 : line[i - 2] + (int)i - 1; \
    _Pragma("omp ordered depend(source)")                                                            \
  }                                                                                                  \
  EXPECT(is_line())

static void clear_grid(void) {
  memset(grid, 0, sizeof grid);
  for (int k = 0; k < n; ++k) grid[0][k] = grid[k][0] = expected[0][k] = expected[k][0] = 1;
}

static int is_grid(void) {
  int right = 1;
  for (int i = 1; i < n; ++i) {
    for (int j = 1; j < n; ++j) {
      expected[i][j] = (expected[i - 1][j] + expected[i][j - 1]) % 10007;
      right &= grid[i][j] == expected[i][j];
    }
  }
  clear_grid();
  return right;
}

/* What lies outside of the loops' bounds is not waited for. */
#define GRID(SCHEDULE)                                                                    \
  _Pragma(SCHEDULE) for (int i = 1; i < n; ++i) {                                         \
    for (int j = 1; j < n; ++j) {                                                         \
      _Pragma("omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)") grid[i][j] = \
          (grid[i - 1][j] + grid[i][j - 1]) % 10007;                                      \
      _Pragma("omp ordered depend(source)")                                               \
    }                                                                                     \
  }                                                                                       \
  EXPECT(is_grid())

/* Downwards by steps of 3, then of a long long: the compiler counts the iterations. */
static void downwards(void) {
#pragma omp parallel for ordered(1) schedule(static, 2)
  for (int i = n - 1; i >= 0; i -= 3) {
#pragma omp ordered depend(sink : i + 6)
    line[i] = i + 6 > n - 1 ? i : line[i + 6] + i;
#pragma omp ordered depend(source)
  }
  int right = 1;
  for (int i = n - 1; i >= 0; i -= 3) right &= line[i] == (i + 6 > n - 1 ? i : line[i + 6] + i);
  EXPECT(right);
}

/* The first two of three loops are shared out as one. */
static void collapsed(void) {
  static int cube[4][5][6];
#pragma omp parallel for collapse(2) ordered(3) schedule(dynamic, 2)
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j) {
      for (int k = 0; k < 6; ++k) {
#pragma omp ordered depend(sink : i - 1, j, k) depend(sink : i, j - 1, k) depend(sink : i, j, k - 1)
        cube[i][j][k] = 1 + (i ? cube[i - 1][j][k] : 0) + (j ? cube[i][j - 1][k] : 0) + (k ? cube[i][j][k - 1] : 0);
        cube[i][j][k] %= 9973;
#pragma omp ordered depend(source)
      }
    }
  }
  int right = 1;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j) {
      for (int k = 0; k < 6; ++k) {
        const int value = 1 + (i ? cube[i - 1][j][k] : 0) + (j ? cube[i][j - 1][k] : 0) + (k ? cube[i][j][k - 1] : 0);
        right &= cube[i][j][k] == value % 9973;
      }
    }
  }
  EXPECT(right);
}

/* A reduction with the task modifier, one loop after the other without a barrier, and a loop of no iterations. */
static void with_reduction(void) {
  long sum = 0;
  int none = 0;
  static int second[n];
#pragma omp parallel
  {
#pragma omp for ordered(1) reduction(task, + : sum) schedule(static)
    for (int i = 0; i < n; ++i) {
#pragma omp ordered depend(sink : i - 1)
      line[i] = i == 0 ? 1 : line[i - 1] + i;
      sum += line[i];
#pragma omp ordered depend(source)
    }
    for (int round = 0; round < 20; ++round) {
#pragma omp for ordered(1) schedule(static, 1) nowait
      for (int i = 0; i < n; ++i) {
#pragma omp ordered depend(sink : i - 1)
        second[i] += i == 0 ? 1 : second[i - 1];
#pragma omp ordered depend(source)
      }
#pragma omp barrier
    }
#pragma omp for ordered(1)
    for (int i = 0; i < none; ++i) {
#pragma omp ordered depend(sink : i - 1)
#pragma omp ordered depend(source)
    }
  }
  long total = 0;
  for (int i = 0; i < n; ++i) total += 1 + i * (i + 1) / 2;
  EXPECT(sum == total);
  EXPECT(is_line());
  static int wanted[n];
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < n; ++i) wanted[i] += i == 0 ? 1 : wanted[i - 1];
  }
  EXPECT(memcmp(second, wanted, sizeof wanted) == 0);
}

int main(void) {
  LINE("omp parallel for ordered(1)", int);
  LINE("omp parallel for ordered(1) schedule(static, 1)", int);
  LINE("omp parallel for ordered(1) schedule(static, 7)", unsigned long long);
  LINE("omp parallel for ordered(1) schedule(dynamic)", unsigned long long);
  LINE("omp parallel for ordered(1) schedule(guided, 2)", long);
  LINE("omp parallel for ordered(1) schedule(guided)", unsigned long long);
  omp_set_schedule(omp_sched_dynamic, 4);
  LINE("omp parallel for ordered(1) schedule(runtime)", int);
  LINE("omp parallel for ordered(1) schedule(runtime)", unsigned long long);
  clear_grid();
  GRID("omp parallel for ordered(2) schedule(static, 1)");
  GRID("omp parallel for ordered(2)");
  GRID("omp parallel for ordered(2) schedule(dynamic)");
  GRID("omp parallel for ordered(2) schedule(guided)");
  downwards();
  memset(line, 0, sizeof line);
  collapsed();
  with_reduction();
  return expect_status();
}
