// `makecontext`: the program calls makecontext:
#include <omp.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t own;

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  makecontext(&own, abort, 0);
  return 0;
}
