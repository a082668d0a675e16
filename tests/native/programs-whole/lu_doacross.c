/* Wavefronts by doacross loops: a lower and an upper sweep over blocks, a dynamic programme over two strings, and a
   recurrence over distances, each against the serial loop. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16 };

static int n, blocks;
static double *a, *b;

static void relax(double* g, int bi, int bj) {
  for (int i = bi * BLOCK; i < (bi + 1) * BLOCK; ++i)
    for (int j = bj * BLOCK; j < (bj + 1) * BLOCK; ++j) {
      const double north = i ? g[(i - 1) * n + j] : 1, west = j ? g[i * n + j - 1] : 1;
      g[i * n + j] = 0.5 * g[i * n + j] + 0.25 * (north + west);
    }
}

static void relax_back(double* g, int bi, int bj) {
  for (int i = (bi + 1) * BLOCK - 1; i >= bi * BLOCK; --i)
    for (int j = (bj + 1) * BLOCK - 1; j >= bj * BLOCK; --j) {
      const double south = i < n - 1 ? g[(i + 1) * n + j] : 1, east = j < n - 1 ? g[i * n + j + 1] : 1;
      g[i * n + j] = 0.5 * g[i * n + j] + 0.25 * (south + east);
    }
}

static void sweeps(int count) {
  for (int s = 0; s < count; ++s) {
#pragma omp parallel
    {
#pragma omp for ordered(2) schedule(static, 1)
      for (int i = 0; i < blocks; ++i)
        for (int j = 0; j < blocks; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
          relax(a, i, j);
#pragma omp ordered depend(source)
        }
#pragma omp for ordered(2) schedule(dynamic, 1)
      for (int i = blocks - 1; i >= 0; --i)
        for (int j = blocks - 1; j >= 0; --j) {
#pragma omp ordered depend(sink : i + 1, j) depend(sink : i, j + 1)
          relax_back(a, i, j);
#pragma omp ordered depend(source)
        }
    }
  }
}

static int sweeps_check(int count) {
  for (int i = 0; i < n * n; ++i) a[i] = b[i] = (i * 37 % 101) / 101.0;
  sweeps(count);
  for (int s = 0; s < count; ++s) {
    for (int i = 0; i < blocks; ++i)
      for (int j = 0; j < blocks; ++j) relax(b, i, j);
    for (int i = blocks - 1; i >= 0; --i)
      for (int j = blocks - 1; j >= 0; --j) relax_back(b, i, j);
  }
  return memcmp(a, b, (size_t)(n * n) * sizeof *a) != 0;
}

static int larger(int x, int y) {
  return x > y ? x : y;
}

/* The longest common subsequence of two strings, row by row, columns in tiles. */
static int subsequence_check(int length) {
  char *s = malloc((size_t)length + 1), *t = malloc((size_t)length + 1);
  const int wide = length + 1, tiles = 8;
  int *table = calloc((size_t)wide * (size_t)wide, sizeof *table), *plain = calloc((size_t)(2 * wide), sizeof *plain);
  for (int i = 0; i < length; ++i) {
    s[i] = (char)('a' + i * i % 7);
    t[i] = (char)('a' + i * 5 % 11 % 7);
  }
  s[length] = t[length] = 0;
#pragma omp parallel for ordered(2) schedule(static)
  for (int i = 1; i <= length; ++i)
    for (int tile = 0; tile < tiles; ++tile) {
#pragma omp ordered depend(sink : i - 1, tile) depend(sink : i, tile - 1)
      for (int j = 1 + length * tile / tiles; j <= length * (tile + 1) / tiles; ++j)
        table[i * wide + j] = s[i - 1] == t[j - 1] ? table[(i - 1) * wide + j - 1] + 1
                                                   : larger(table[(i - 1) * wide + j], table[i * wide + j - 1]);
#pragma omp ordered depend(source)
    }
  for (int i = 1; i <= length; ++i) {
    int *row = plain + (i & 1) * wide, *above = plain + (~i & 1) * wide;
    for (int j = 1; j <= length; ++j) row[j] = s[i - 1] == t[j - 1] ? above[j - 1] + 1 : larger(above[j], row[j - 1]);
  }
  const int wrong = table[length * wide + length] != plain[(length & 1) * wide + length];
  printf("longest common subsequence of %d: %d\n", length, table[length * wide + length]);
  free(s), free(t), free(table), free(plain);
  return wrong;
}

static int distances_check(int length) {
  long *x = malloc((size_t)length * sizeof *x), *y = malloc((size_t)length * sizeof *y);
  for (int i = 0; i < length; ++i) x[i] = y[i] = i % 13;
#pragma omp parallel for ordered(1) schedule(static, 4) shared(x)
  for (int i = 0; i < length; ++i) {
#pragma omp ordered depend(sink : i - 3) depend(sink : i - 8)
    if (i >= 8) x[i] = (x[i] + x[i - 3] + 2 * x[i - 8]) % 1000003;
#pragma omp ordered depend(source)
  }
  for (int i = 8; i < length; ++i) y[i] = (y[i] + y[i - 3] + 2 * y[i - 8]) % 1000003;
  const int wrong = memcmp(x, y, (size_t)length * sizeof *x) != 0;
  free(x), free(y);
  return wrong;
}

int main(int argc, char** argv) {
  blocks = argc > 1 ? atoi(argv[1]) : 6;
  n = blocks * BLOCK;
  a = malloc((size_t)(n * n) * sizeof *a);
  b = malloc((size_t)(n * n) * sizeof *b);
  const double begun = omp_get_wtime();
  const int wrong[] = {sweeps_check(2), subsequence_check(n), distances_check(4 * n)};
  printf("doacross: %.3f s, %d %d %d: %s\n", omp_get_wtime() - begun, wrong[0], wrong[1], wrong[2],
         wrong[0] + wrong[1] + wrong[2] ? "WRONG" : "verified");
  free(a), free(b);
  return wrong[0] + wrong[1] + wrong[2];
}
