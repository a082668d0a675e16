/* Conjugate gradients for a 5-point Laplacian on a square grid, written as one would for a machine with real shared
 * memory: docs/questions.md asks what it would take on a cluster. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { side = 256, unknowns = side * side, iterations = 10 };

static double* vector(double value) {
  double* v = malloc(unknowns * sizeof(double));
  if (v == NULL) exit(2);
  for (int i = 0; i < unknowns; ++i) v[i] = value;
  return v;
}

static double at(const double* v, int row, int column) {
  return row < 0 || row >= side || column < 0 || column >= side ? 0 : v[row * side + column];
}

int main(void) {
  double* x = vector(0);
  double* r = vector(1);
  double* p = vector(1);
  double* q = vector(0);
  double* partial = calloc((size_t)omp_get_max_threads(), sizeof(double));
  if (partial == NULL) return 2;
  const double begin = omp_get_wtime();
  double rho = unknowns;
  for (int iteration = 0; iteration < iterations; ++iteration) {
#pragma omp parallel
    {
      double sum = 0;
#pragma omp for nowait
      for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
          const int i = row * side + column;
          q[i] = 4 * p[i] - at(p, row - 1, column) - at(p, row + 1, column) - at(p, row, column - 1) -
                 at(p, row, column + 1);
          sum += p[i] * q[i];
        }
      }
      partial[omp_get_thread_num()] = sum;
    }
    double pq = 0;
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) pq += partial[thread];
    const double alpha = rho / pq;
    double next = 0;
#pragma omp parallel for reduction(+ : next)
    for (int i = 0; i < unknowns; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      next += r[i] * r[i];
    }
    const double beta = next / rho;
    rho = next;
#pragma omp parallel for
    for (int i = 0; i < unknowns; ++i) p[i] = r[i] + beta * p[i];
  }
  printf("residual %.3g\n", sqrt(rho));
  fprintf(stderr, "%.3f s\n", omp_get_wtime() - begin);
  return 0;
}
