// `forkpty`: the program calls forkpty:
#define _GNU_SOURCE
#include <omp.h>
#include <pty.h>
#include <stddef.h>

static int end;

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  return forkpty(&end, NULL, NULL, NULL) < 0;
}
