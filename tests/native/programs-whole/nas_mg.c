/* Multigrid on a periodic cube, as NAS MG: V-cycles over levels of arrays of pointers to pointers, collapse, max and
   sum reductions, and a norm that must equal the serial one. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 8 };
typedef double*** grid;

static grid u[LEVELS], r[LEVELS], v;
static int size[LEVELS], levels;
static int parallel = 1;

static grid allocate(int n) {
  grid g = malloc((size_t)n * sizeof *g);
  double **rows = malloc((size_t)(n * n) * sizeof *rows), *data = calloc((size_t)(n * n) * (size_t)n, sizeof *data);
  for (int i = 0; i < n; ++i) {
    g[i] = rows + i * n;
    for (int j = 0; j < n; ++j) g[i][j] = data + (i * n + j) * n;
  }
  return g;
}

static void release(grid g) {
  free(g[0][0]);
  free(g[0]);
  free(g);
}

static void exchange(grid g, int n) {
#pragma omp parallel if (parallel)
  {
#pragma omp for
    for (int i = 1; i < n - 1; ++i) {
      for (int j = 1; j < n - 1; ++j) {
        g[i][j][0] = g[i][j][n - 2];
        g[i][j][n - 1] = g[i][j][1];
      }
      memcpy(g[i][0], g[i][n - 2], (size_t)n * sizeof(double));
      memcpy(g[i][n - 1], g[i][1], (size_t)n * sizeof(double));
    }
#pragma omp sections
    {
#pragma omp section
      for (int j = 0; j < n; ++j) memcpy(g[0][j], g[n - 2][j], (size_t)n * sizeof(double));
#pragma omp section
      for (int j = 0; j < n; ++j) memcpy(g[n - 1][j], g[1][j], (size_t)n * sizeof(double));
    }
  }
}

static double around(grid g, int i, int j, int k) {
  return g[i - 1][j][k] + g[i + 1][j][k] + g[i][j - 1][k] + g[i][j + 1][k] + g[i][j][k - 1] + g[i][j][k + 1];
}

static void residual(grid from, grid right, grid to, int n) {
#pragma omp parallel for collapse(2) if (parallel)
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
#pragma omp simd
      for (int k = 1; k < n - 1; ++k) to[i][j][k] = right[i][j][k] - (6 * from[i][j][k] - around(from, i, j, k));
  exchange(to, n);
}

static void smooth(grid g, grid res, int n) {
#pragma omp parallel for schedule(static, 2) if (parallel)
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      for (int k = 1; k < n - 1; ++k) g[i][j][k] += (res[i][j][k] + around(res, i, j, k) / 12) / 8;
  exchange(g, n);
}

static void restricted(grid fine, grid coarse, int n) {
#pragma omp parallel for collapse(3) if (parallel)
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      for (int k = 1; k < n - 1; ++k) {
        double sum = 0;
        for (int c = 0; c < 8; ++c) sum += fine[2 * i - (c & 1)][2 * j - (c >> 1 & 1)][2 * k - (c >> 2)];
        coarse[i][j][k] = sum / 4; /* half of what the coarse grid asks for: constants interpolate too well */
      }
  exchange(coarse, n);
}

static void prolonged(grid coarse, grid fine, int n) {
#pragma omp parallel for schedule(guided) if (parallel)
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      for (int k = 1; k < n - 1; ++k) fine[i][j][k] += coarse[(i + 1) / 2][(j + 1) / 2][(k + 1) / 2];
  exchange(fine, n);
}

static void zero(grid g, int n) {
#pragma omp parallel for if (parallel)
  for (int i = 0; i < n; ++i) memset(g[i][0], 0, (size_t)(n * n) * sizeof(double));
}

static void cycle(int level) {
  const int n = size[level];
  if (level == levels - 1) {
    for (int s = 0; s < 4; ++s) smooth(u[level], r[level], n);
    return;
  }
  restricted(r[level], r[level + 1], size[level + 1]);
  zero(u[level + 1], size[level + 1]);
  cycle(level + 1);
  if (level) {
    grid right = allocate(n);
#pragma omp parallel for if (parallel)
    for (int i = 0; i < n; ++i) memcpy(right[i][0], r[level][0][0] + i * n * n, (size_t)(n * n) * sizeof(double));
    prolonged(u[level + 1], u[level], n);
    residual(u[level], right, r[level], n);
    release(right);
  } else {
    prolonged(u[1], u[0], n);
    residual(u[0], v, r[0], n);
  }
  smooth(u[level], r[level], n);
}

static double norm(grid g, int n, double* largest) {
  double sum = 0, top = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : top) if (parallel)
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      for (int k = 1; k < n - 1; ++k) {
        sum += g[i][j][k] * g[i][j][k];
        if (fabs(g[i][j][k]) > top) top = fabs(g[i][j][k]);
      }
  *largest = top;
  return sqrt(sum / (n - 2) / (n - 2) / (n - 2));
}

static double solved(int cycles, double* largest) {
  zero(u[0], size[0]);
  residual(u[0], v, r[0], size[0]);
  for (int c = 0; c < cycles; ++c) {
    cycle(0);
    residual(u[0], v, r[0], size[0]);
  }
  return norm(r[0], size[0], largest);
}

int main(int argc, char** argv) {
  const int inner = argc > 1 ? atoi(argv[1]) : 32, cycles = argc > 2 ? atoi(argv[2]) : 3;
  for (int n = inner; n >= 2 && levels < LEVELS; n /= 2) {
    size[levels] = n + 2;
    u[levels] = allocate(n + 2);
    r[levels++] = allocate(n + 2);
  }
  v = allocate(inner + 2);
  for (int k = 0; k < 20; ++k) v[1 + k * 7 % inner][1 + k * 13 % inner][1 + k * 5 % inner] = k % 2 ? 1 : -1;
  exchange(v, inner + 2);
  double top, serial_top, before = norm(v, inner + 2, &top);
  const double begun = omp_get_wtime(), found = solved(cycles, &top), time = omp_get_wtime() - begun;
  parallel = 0;
  const double expected = solved(cycles, &serial_top);
  const int good = fabs(found - expected) <= 1e-12 * expected && top == serial_top && found < before / 2;
  printf("mg: %d levels, norm %.6e (%.6e), largest %.6e, %.3f s: %s\n", levels, found, expected, top, time,
         good ? "verified" : "WRONG");
  for (int l = 0; l < levels; ++l) release(u[l]), release(r[l]);
  release(v);
  return !good;
}
