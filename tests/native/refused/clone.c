// `clone`: the program calls clone:
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>

static char stack[65536];
static int nothing(void* argument) {
  return argument != NULL;
}

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  return clone(nothing, stack + sizeof stack, SIGCHLD, NULL) < 0;
}
