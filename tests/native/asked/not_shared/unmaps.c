// Built as unmaps with -O0
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(void) {
  char* small = malloc(64);
  int failed = 0;
  small[0] = 5;
#pragma omp parallel reduction(+ : failed)
  failed += munmap((void*)((uintptr_t)small & ~(uintptr_t)4095), (size_t)1 << 40) != 0;
  return failed != 0 || small[0] != 5;
}
