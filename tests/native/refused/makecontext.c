// `makecontext`: the program synchronises, or ends, on a stack that it made itself (run only)
#include <omp.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t own, resumer;
static int sum;

static void body(void) {
#pragma omp critical
  ++sum;
  setcontext(&resumer);
}

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  const size_t bytes = 65536;
  getcontext(&own);
  own.uc_stack.ss_sp = malloc(bytes);
  own.uc_stack.ss_size = bytes;
  makecontext(&own, body, 0);
  return swapcontext(&resumer, &own);
}
