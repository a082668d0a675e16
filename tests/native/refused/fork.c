// `fork`: the program calls fork: (run only)
#include <omp.h>
#include <unistd.h>

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  return fork() < 0;
}
