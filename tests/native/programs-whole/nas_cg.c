/* Conjugate gradients on a random sparse symmetric matrix, as NAS CG: rows of various lengths, one parallel region
   around the iteration, sums by reduction clauses and by hand. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  int column;
  double value;
};
struct row {
  struct entry* entries;
  int count, room;
};

static int n;
static int *start, *column;
static double* value;
static double *x, *z, *p, *q, *r;
static double rho_shared, d_shared, sums[64 * 16];

static unsigned state = 12345;
static double random_number(void) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) * 0x1p-24;
}

static void add(struct row* to, int at, double v) {
  for (int k = 0; k < to->count; ++k)
    if (to->entries[k].column == at) {
      to->entries[k].value += v;
      return;
    }
  if (to->count == to->room) {
    to->room = to->room ? 2 * to->room : 4;
    to->entries = realloc(to->entries, (size_t)to->room * sizeof *to->entries);
  }
  to->entries[to->count++] = (struct entry){at, v};
}

static int by_column(const void* a, const void* b) {
  return ((const struct entry*)a)->column - ((const struct entry*)b)->column;
}

static void make_matrix(int per_row) {
  struct row* rows = calloc((size_t)n, sizeof *rows);
  for (int i = 0; i < n; ++i) {
    add(&rows[i], i, per_row + 2.0);
    for (int k = 0; k < per_row / 2; ++k) {
      const int j = (int)(random_number() * n);
      const double v = random_number() - 0.5;
      if (j == i) continue;
      add(&rows[i], j, v);
      add(&rows[j], i, v);
    }
  }
  start = malloc((size_t)(n + 1) * sizeof *start);
  start[0] = 0;
  for (int i = 0; i < n; ++i) start[i + 1] = start[i] + rows[i].count;
  column = malloc((size_t)start[n] * sizeof *column);
  value = malloc((size_t)start[n] * sizeof *value);
#pragma omp parallel for schedule(dynamic, 64)
  for (int i = 0; i < n; ++i) {
    qsort(rows[i].entries, (size_t)rows[i].count, sizeof *rows[i].entries, by_column);
    for (int k = 0; k < rows[i].count; ++k) {
      column[start[i] + k] = rows[i].entries[k].column;
      value[start[i] + k] = rows[i].entries[k].value;
    }
    free(rows[i].entries);
  }
  free(rows);
}

static double summed(double own) {
  const int me = omp_get_thread_num(), team = omp_get_num_threads();
  sums[16 * me] = own;
#pragma omp barrier
  double sum = 0;
  for (int t = 0; t < team; ++t) sum += sums[16 * t];
#pragma omp barrier
  return sum;
}

static double conjugate_gradients(int steps) {
  double residual = 0;
#pragma omp parallel reduction(+ : residual)
  {
    double own = 0;
#pragma omp for
    for (int i = 0; i < n; ++i) {
      z[i] = q[i] = 0;
      r[i] = p[i] = x[i];
      own += x[i] * x[i];
    }
    double rho = summed(own);
    for (int step = 0; step < steps; ++step) {
#pragma omp single
      d_shared = rho_shared = 0;
#pragma omp for reduction(+ : d_shared)
      for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * p[column[k]];
        q[i] = sum;
        d_shared += p[i] * sum;
      }
      const double alpha = rho / d_shared, before = rho;
#pragma omp for reduction(+ : rho_shared)
      for (int i = 0; i < n; ++i) {
        z[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        rho_shared += r[i] * r[i];
      }
      rho = rho_shared;
      const double beta = rho / before;
#pragma omp for
      for (int i = 0; i < n; ++i) p[i] = r[i] + beta * p[i];
    }
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * z[column[k]];
      residual += (x[i] - sum) * (x[i] - sum);
    }
  }
  return sqrt(residual);
}

static double serial_zeta(int rounds, int steps, double shift) {
  double *v = malloc((size_t)(5 * n) * sizeof *v), *w = v + n, *a = v + 2 * n, *b = v + 3 * n, *c = v + 4 * n, zeta = 0;
  for (int i = 0; i < n; ++i) v[i] = 1;
  for (int round = 0; round < rounds; ++round) {
    double rho = 0, xz = 0, zz = 0;
    for (int i = 0; i < n; ++i) w[i] = 0, a[i] = b[i] = v[i], rho += v[i] * v[i];
    for (int step = 0; step < steps; ++step) {
      double d = 0, next = 0;
      for (int i = 0; i < n; ++i) {
        c[i] = 0;
        for (int k = start[i]; k < start[i + 1]; ++k) c[i] += value[k] * b[column[k]];
        d += b[i] * c[i];
      }
      for (int i = 0; i < n; ++i) w[i] += rho / d * b[i], a[i] -= rho / d * c[i], next += a[i] * a[i];
      for (int i = 0; i < n; ++i) b[i] = a[i] + next / rho * b[i];
      rho = next;
    }
    for (int i = 0; i < n; ++i) xz += v[i] * w[i], zz += w[i] * w[i];
    zeta = shift + 1 / xz;
    for (int i = 0; i < n; ++i) v[i] = w[i] / sqrt(zz);
  }
  free(v);
  return zeta;
}

int main(int argc, char** argv) {
  n = argc > 1 ? atoi(argv[1]) : 2000;
  const int rounds = argc > 2 ? atoi(argv[2]) : 3, steps = 12;
  const double shift = 10;
  make_matrix(8);
  double** vectors[] = {&x, &z, &p, &q, &r};
  for (int i = 0; i < 5; ++i) *vectors[i] = malloc((size_t)n * sizeof(double));
#pragma omp parallel for
  for (int i = 0; i < n; ++i) x[i] = 1;
  double zeta = 0, residual = 0;
  const double begun = omp_get_wtime();
  for (int round = 0; round < rounds; ++round) {
    residual = conjugate_gradients(steps);
    double xz = 0, zz = 0;
#pragma omp parallel for reduction(+ : xz, zz)
    for (int i = 0; i < n; ++i) {
      xz += x[i] * z[i];
      zz += z[i] * z[i];
    }
    zz = 1 / sqrt(zz);
    zeta = shift + 1 / xz;
#pragma omp parallel for simd
    for (int i = 0; i < n; ++i) x[i] = zz * z[i];
  }
  const double time = omp_get_wtime() - begun, expected = serial_zeta(rounds, steps, shift);
  const int good = fabs(zeta - expected) < 1e-9 * fabs(expected) && residual < 1e-3 && zeta == zeta;
  printf("cg: n %d, %d nonzeros, zeta %.10f (%.10f), residual %.2e, %.3f s: %s\n", n, start[n], zeta, expected,
         residual, time, good ? "verified" : "WRONG");
  return !good;
}
