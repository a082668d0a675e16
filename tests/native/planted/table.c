/* Planted: a table that nobody changes is fetched again and again, as copies die at barriers. */
#include <stdio.h>
#include <stdlib.h>

enum { entries = 60000, rows = 256, steps = 30 };

static double out[rows][512];

static double* load(int count) {
  double* table = malloc(count * sizeof *table);
  for (int i = 0; i < count; ++i) table[i] = i % 17 * 0.25;
  return table;
}

int main(void) {
  double* table = load(entries); /* planted: table */
#pragma omp parallel
  for (int step = 0; step < steps; ++step) {
#pragma omp for schedule(static)
    for (int i = 0; i < rows; ++i) {
      for (int k = 0; k < 200; ++k) out[i][k % 8] += table[(i * 977 + k * 331 + step) % entries]; /* touched: table */
    }
  }
  printf("%g\n", out[3][3]);
  free(table);
}
