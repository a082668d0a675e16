// `daemon`: the program calls daemon:
#define _GNU_SOURCE
#include <omp.h>
#include <stddef.h>
#include <unistd.h>

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  return daemon(1, 1);
}
