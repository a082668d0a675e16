/* Block LU and Cholesky by tasks that depend on blocks, blocks allocated where they fill in, as in task suites; the
   same by parallel loops; then the residual of a solution by blocked substitution with depend on array sections. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int blocks, size;

typedef double* block;
typedef block* matrix; /* [i * blocks + j], NULL where zero */

static block new_block(void) {
  return calloc((size_t)(size * size), sizeof(double));
}

static double element(int i, int j) {
  return i == j ? 4.0 * blocks * size : ((i * 31 + j * 17) % 23 - 11) * 0.25;
}

static int occupied(int i, int j) {
  return i == j || abs(i - j) == 1 || (i % 3 == 0 && j % 3 == 0) || i * 5 % 4 == j;
}

static matrix make_matrix(int symmetric) {
  matrix m = calloc((size_t)(blocks * blocks), sizeof *m);
  for (int i = 0; i < blocks; ++i)
    for (int j = 0; j < blocks; ++j) {
      if (!symmetric && !occupied(i, j)) continue;
      m[i * blocks + j] = new_block();
      for (int k = 0; k < size * size; ++k) {
        const int row = i * size + k / size, column = j * size + k % size;
        m[i * blocks + j][k] =
            symmetric ? element(row > column ? row : column, row > column ? column : row) : element(row, column);
      }
    }
  return m;
}

static void release(matrix m) {
  for (int k = 0; k < blocks * blocks; ++k) free(m[k]);
  free(m);
}

static void factor(block d) {
  for (int k = 0; k < size; ++k)
    for (int i = k + 1; i < size; ++i) {
      d[i * size + k] /= d[k * size + k];
      for (int j = k + 1; j < size; ++j) d[i * size + j] -= d[i * size + k] * d[k * size + j];
    }
}
static void row_block(const double* d, block r) {
  for (int k = 0; k < size; ++k)
    for (int i = k + 1; i < size; ++i)
      for (int j = 0; j < size; ++j) r[i * size + j] -= d[i * size + k] * r[k * size + j];
}
static void column_block(const double* d, block c) {
  for (int i = 0; i < size; ++i)
    for (int k = 0; k < size; ++k) {
      c[i * size + k] /= d[k * size + k];
      for (int j = k + 1; j < size; ++j) c[i * size + j] -= c[i * size + k] * d[k * size + j];
    }
}
static void inner_block(const double* c, const double* r, block t) {
  for (int i = 0; i < size; ++i)
    for (int k = 0; k < size; ++k)
      for (int j = 0; j < size; ++j) t[i * size + j] -= c[i * size + k] * r[k * size + j];
}

static void fill_in(matrix m) {
  for (int k = 0; k < blocks; ++k)
    for (int i = k + 1; i < blocks; ++i)
      for (int j = k + 1; j < blocks; ++j)
        if (m[i * blocks + k] && m[k * blocks + j] && !m[i * blocks + j]) m[i * blocks + j] = new_block();
}

static void by_tasks(matrix m) {
#pragma omp parallel
#pragma omp single nowait
  {
    for (int k = 0; k < blocks; ++k) {
      block d = m[k * blocks + k];
#pragma omp task depend(inout : d[0]) firstprivate(d)
      factor(d);
      for (int j = k + 1; j < blocks; ++j) {
        block r = m[k * blocks + j], c = m[j * blocks + k];
        if (r) {
#pragma omp task depend(in : d[0]) depend(inout : r[0]) firstprivate(d, r)
          row_block(d, r);
        }
        if (c) {
#pragma omp task depend(in : d[0]) depend(inout : c[0]) firstprivate(d, c)
          column_block(d, c);
        }
      }
      for (int i = k + 1; i < blocks; ++i)
        for (int j = k + 1; j < blocks; ++j) {
          block c = m[i * blocks + k], r = m[k * blocks + j];
          if (!c || !r) continue;
          if (!m[i * blocks + j]) m[i * blocks + j] = new_block();
          block t = m[i * blocks + j];
#pragma omp task depend(in : c[0], r[0]) depend(inout : t [0:size * size])
          inner_block(c, r, t);
        }
    }
  }
}

static void by_loops(matrix m) {
#pragma omp parallel
  for (int k = 0; k < blocks; ++k) {
#pragma omp single
    factor(m[k * blocks + k]);
#pragma omp for nowait schedule(dynamic)
    for (int j = k + 1; j < blocks; ++j)
      if (m[k * blocks + j]) row_block(m[k * blocks + k], m[k * blocks + j]);
#pragma omp for schedule(dynamic)
    for (int i = k + 1; i < blocks; ++i)
      if (m[i * blocks + k]) column_block(m[k * blocks + k], m[i * blocks + k]);
#pragma omp for collapse(2) schedule(dynamic, 2)
    for (int i = k + 1; i < blocks; ++i)
      for (int j = k + 1; j < blocks; ++j) {
        if (!m[i * blocks + k] || !m[k * blocks + j]) continue;
        block* t = &m[i * blocks + j];
        if (!*t) *t = new_block(); /* by the thread that has the block */
        inner_block(m[i * blocks + k], m[k * blocks + j], *t);
      }
  }
}

static void serially(matrix m) {
  for (int k = 0; k < blocks; ++k) {
    factor(m[k * blocks + k]);
    for (int j = k + 1; j < blocks; ++j) {
      if (m[k * blocks + j]) row_block(m[k * blocks + k], m[k * blocks + j]);
      if (m[j * blocks + k]) column_block(m[k * blocks + k], m[j * blocks + k]);
    }
    for (int i = k + 1; i < blocks; ++i)
      for (int j = k + 1; j < blocks; ++j)
        if (m[i * blocks + k] && m[k * blocks + j])
          inner_block(m[i * blocks + k], m[k * blocks + j], m[i * blocks + j]);
  }
}

static int different(const char* what, matrix a, matrix b) {
  for (int k = 0; k < blocks * blocks; ++k) {
    if (!a[k] != !b[k]) return fprintf(stderr, "%s: block %d\n", what, k), 1;
    for (int i = 0; a[k] && i < size * size; ++i)
      if (a[k][i] != b[k][i])
        return fprintf(stderr, "%s: block %d, element %d: %g, not %g\n", what, k, i, a[k][i], b[k][i]), 1;
  }
  return 0;
}

/* Forward and backward substitution on the factors, one task for each block row. */
static double residual(matrix lu, matrix original) {
  const int n = blocks * size;
  double *x = malloc((size_t)n * sizeof *x), worst = 0;
  for (int i = 0; i < n; ++i) x[i] = i % 10 - 4.5;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < blocks; ++i) {
      for (int j = 0; j < i; ++j) {
        if (!lu[i * blocks + j]) continue;
#pragma omp task depend(in : x [j * size:size]) depend(inout : x [i * size:size])
        for (int r = 0; r < size; ++r)
          for (int c = 0; c < size; ++c) x[i * size + r] -= lu[i * blocks + j][r * size + c] * x[j * size + c];
      }
#pragma omp task depend(inout : x [i * size:size])
      for (int r = 0; r < size; ++r)
        for (int c = 0; c < r; ++c) x[i * size + r] -= lu[i * blocks + i][r * size + c] * x[i * size + c];
    }
#pragma omp taskwait
    for (int i = blocks - 1; i >= 0; --i) {
      for (int j = i + 1; j < blocks; ++j) {
        if (!lu[i * blocks + j]) continue;
#pragma omp task depend(in : x [j * size:size]) depend(inout : x [i * size:size])
        for (int r = 0; r < size; ++r)
          for (int c = 0; c < size; ++c) x[i * size + r] -= lu[i * blocks + j][r * size + c] * x[j * size + c];
      }
#pragma omp task depend(inout : x [i * size:size])
      for (int r = size - 1; r >= 0; --r) {
        for (int c = r + 1; c < size; ++c) x[i * size + r] -= lu[i * blocks + i][r * size + c] * x[i * size + c];
        x[i * size + r] /= lu[i * blocks + i][r * size + r];
      }
    }
  }
#pragma omp parallel for reduction(max : worst)
  for (int row = 0; row < n; ++row) {
    double sum = -(row % 10 - 4.5);
    for (int j = 0; j < blocks; ++j) {
      const block b = original[row / size * blocks + j];
      for (int c = 0; b && c < size; ++c) sum += b[row % size * size + c] * x[j * size + c];
    }
    worst = fmax(worst, fabs(sum));
  }
  free(x);
  return worst;
}

static double cholesky_error(void) {
  matrix m = make_matrix(1), original = make_matrix(1);
#pragma omp parallel
#pragma omp master
#pragma omp taskgroup
  for (int k = 0; k < blocks; ++k) {
    block* d = &m[k * blocks + k];
#pragma omp task depend(inout : *d)
    for (int c = 0; c < size; ++c)
      for (int i = c; i < size; ++i) {
        double sum = (*d)[i * size + c];
        for (int p = 0; p < c; ++p) sum -= (*d)[i * size + p] * (*d)[c * size + p];
        (*d)[i * size + c] = i == c ? sqrt(sum) : sum / (*d)[c * size + c];
      }
    for (int i = k + 1; i < blocks; ++i) {
      block* t = &m[i * blocks + k];
#pragma omp task depend(in : *d) depend(inout : *t)
      for (int r = 0; r < size; ++r)
        for (int c = 0; c < size; ++c) {
          double sum = (*t)[r * size + c];
          for (int p = 0; p < c; ++p) sum -= (*t)[r * size + p] * (*d)[c * size + p];
          (*t)[r * size + c] = sum / (*d)[c * size + c];
        }
    }
    for (int i = k + 1; i < blocks; ++i)
      for (int j = k + 1; j <= i; ++j) {
        block *a = &m[i * blocks + k], *b = &m[j * blocks + k], *t = &m[i * blocks + j];
#pragma omp task depend(in : *a, *b) depend(inout : *t)
        for (int r = 0; r < size; ++r)
          for (int c = 0; c < size; ++c)
            for (int p = 0; p < size; ++p) (*t)[r * size + c] -= (*a)[r * size + p] * (*b)[c * size + p];
      }
  }
  double worst = 0;
  const int n = blocks * size;
#define L(i, j) ((j) <= (i) ? m[(i) / size * blocks + (j) / size][(i) % size * size + (j) % size] : 0)
#pragma omp parallel for reduction(max : worst) schedule(static, 3)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; j += 1 + i % 4) {
      double sum = 0;
      for (int p = 0; p <= j; ++p) sum += L(i, p) * L(j, p);
      worst = fmax(worst, fabs(sum - original[i / size * blocks + j / size][i % size * size + j % size]));
    }
  release(m), release(original);
  return worst;
}

int main(int argc, char** argv) {
  blocks = argc > 1 ? atoi(argv[1]) : 7;
  size = argc > 2 ? atoi(argv[2]) : 16;
  matrix a = make_matrix(0), b = make_matrix(0), c = make_matrix(0), original = make_matrix(0);
  fill_in(c);
  serially(c);
  const double begun = omp_get_wtime();
  by_tasks(a);
  by_loops(b);
  int wrong = different("tasks", a, c) + different("loops", b, c);
  const double error = residual(a, original), error_of_cholesky = cholesky_error();
  wrong += !(error < 1e-8) + !(error_of_cholesky < 1e-8);
  printf("sparse lu: residuals %.1e %.1e, %.3f s: %s\n", error, error_of_cholesky, omp_get_wtime() - begun,
         wrong ? "WRONG" : "verified");
  release(a), release(b), release(c), release(original);
  return wrong != 0;
}
