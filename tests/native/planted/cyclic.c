/* Planted: a cyclic schedule over an array of structures, so that all threads write all pages. */
#include <stdio.h>
#include <stdlib.h>

enum { particles = 40000, steps = 10 };

struct particle {
  double x, v, f;
  int kind;
};

static struct particle* make(int count) {
  return calloc(count, sizeof(struct particle));
}

int main(void) {
  struct particle* all = make(particles); /* planted: cyclic */
#pragma omp parallel
  for (int step = 0; step < steps; ++step) {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < particles; ++i) {
      all[i].v += 0.1 * i; /* touched: cyclic */
      all[i].x += all[i].v;
    }
  }
  printf("%g\n", all[particles - 1].x);
  free(all);
}
