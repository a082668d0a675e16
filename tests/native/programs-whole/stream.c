/* STREAM's four loops and a few of its relatives over static arrays: copy, scale, add, triad, gather, scatter,
   transpose and prefix sums; times of each pass, the least of them, and checks by what each element must be. */
#include <float.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#ifndef ELEMENTS
#define ELEMENTS 60000
#endif
enum { OFFSET = 13, SIDE = 160, PASSES = 4, KERNELS = 8 };

static double a[ELEMENTS + OFFSET], b[ELEMENTS + OFFSET], c[ELEMENTS + OFFSET];
static int order[ELEMENTS];
static float square[SIDE][SIDE], turned[SIDE][SIDE];
static long prefix[ELEMENTS];
static double times[KERNELS][PASSES];
static const char* const names[KERNELS] = {"copy", "scale", "add", "triad", "gather", "scatter", "transpose", "prefix"};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  struct timeval day;
  if (gettimeofday(&day, NULL) || day.tv_sec < 1000) abort();
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void prefix_sums(void) {
  static long partial[1025];
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
    long sum = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < ELEMENTS; ++i) prefix[i] = sum += order[i] % 17;
    partial[me + 1] = sum;
#pragma omp barrier
#pragma omp single
    for (int t = 1; t <= team; ++t) partial[t] += partial[t - 1];
#pragma omp for schedule(static)
    for (int i = 0; i < ELEMENTS; ++i) prefix[i] += partial[me];
#pragma omp for
    for (int t = 0; t <= team; ++t) partial[t] = 0;
  }
}

static int check_prefix(void) {
  long sum = 0;
  for (int i = 0; i < ELEMENTS; ++i)
    if (prefix[i] != (sum += order[i] % 17)) return fprintf(stderr, "prefix %d: %ld, not %ld\n", i, prefix[i], sum), 1;
  return 0;
}

static int check(const char* name, const double* values, double expected) {
  int wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < ELEMENTS; ++i)
    if (values[i] < expected - 1e-9 * expected || values[i] > expected + 1e-9 * expected) ++wrong;
  if (wrong) fprintf(stderr, "%s: %d of %d are not %g\n", name, wrong, ELEMENTS, expected);
  return wrong != 0;
}

int main(void) {
  const double scalar = 3.0;
  int team = 0;
#pragma omp parallel
  {
#pragma omp master
    printf("threads: %d\n", omp_get_num_threads());
  }
#pragma omp parallel
#pragma omp atomic
  team++;
  if (team != omp_get_max_threads())
    return printf("stream: %d threads counted, not %d\n", team, omp_get_max_threads()), 1;
#pragma omp parallel for
  for (int i = 0; i < ELEMENTS; ++i) {
    a[i] = 1;
    b[i] = 2;
    c[i] = 0;
    order[i] = (int)((long)i * 7919 % ELEMENTS);
  }
#pragma omp parallel for
  for (int i = 0; i < ELEMENTS; ++i) a[i] = 2 * a[i];
  for (int pass = 0; pass < PASSES; ++pass) {
    times[0][pass] = seconds();
#pragma omp parallel for
    for (int i = 0; i < ELEMENTS; ++i) c[i] = a[i];
    times[0][pass] = seconds() - times[0][pass];
    times[1][pass] = seconds();
#pragma omp parallel for
    for (int i = 0; i < ELEMENTS; ++i) b[i] = scalar * c[i];
    times[1][pass] = seconds() - times[1][pass];
    times[2][pass] = seconds();
#pragma omp parallel for
    for (int i = 0; i < ELEMENTS; ++i) c[i] = a[i] + b[i];
    times[2][pass] = seconds() - times[2][pass];
    times[3][pass] = seconds();
#pragma omp parallel for
    for (int i = 0; i < ELEMENTS; ++i) a[i] = b[i] + scalar * c[i];
    times[3][pass] = seconds() - times[3][pass];
    times[4][pass] = seconds();
#pragma omp parallel for schedule(static, 512)
    for (int i = 0; i < ELEMENTS; ++i) b[i] = b[i] + 0 * a[order[i]];
    times[4][pass] = seconds() - times[4][pass];
    times[5][pass] = seconds();
#pragma omp parallel for schedule(static)
    for (int i = 0; i < ELEMENTS; i += 64) c[order[i]] = c[order[i]] + 0 * b[i];
    times[5][pass] = seconds() - times[5][pass];
    times[6][pass] = seconds();
#pragma omp parallel
    {
#pragma omp for collapse(2) schedule(static)
      for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) square[i][j] = (float)(i * SIDE + j + pass);
#pragma omp for collapse(2) schedule(static)
      for (int i = 0; i < SIDE; i += 32)
        for (int j = 0; j < SIDE; j += 32)
          for (int ii = i; ii < i + 32; ++ii)
            for (int jj = j; jj < j + 32; ++jj) turned[jj][ii] = square[ii][jj];
    }
    times[6][pass] = seconds() - times[6][pass];
    times[7][pass] = seconds();
    prefix_sums();
    times[7][pass] = seconds() - times[7][pass];
  }
  double x = 2, y = 2, z = 0;
  for (int pass = 0; pass < PASSES; ++pass) {
    z = x;
    y = scalar * z;
    z = x + y;
    x = y + scalar * z;
  }
  int wrong = check("a", a, x) + check("b", b, y) + check("c", c, z) + check_prefix();
  for (int i = 0; i < SIDE; ++i)
    for (int j = 0; j < SIDE; ++j) wrong += turned[j][i] != (float)(i * SIDE + j + PASSES - 1);
  for (int k = 0; k < KERNELS; ++k) {
    double least = FLT_MAX, most = 0;
    for (int pass = 1; pass < PASSES; ++pass) {
      if (times[k][pass] < least) least = times[k][pass];
      if (times[k][pass] > most) most = times[k][pass];
    }
    printf("%-10s %10.6f %10.6f s\n", names[k], least, most);
    wrong += least < 0;
  }
  puts(wrong ? "stream: WRONG" : "stream: verified");
  return wrong != 0;
}
