// `vfork`: the program calls fork: (run only)
#define _DEFAULT_SOURCE
#include <omp.h>
#include <unistd.h>

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  if (vfork() == 0) _exit(0);
  return 0;
}
