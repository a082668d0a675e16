/* Blocks of a page or more are regions of their own, even when one takes an address that another had. */
#include <stdint.h>
#include <stdlib.h>

int main(void) {
  volatile int32_t* first = malloc(3 * 4096);
  /* Written in descending order, each page's words all but one. */
  for (int page = 2; page >= 0; --page) {
    for (int i = 1; i < 1024; ++i) first[page * 1024 + i] = i;
  }
  free((void*)first);
  volatile int32_t* second = calloc(2, 4096);
  volatile int32_t* small = malloc(100);
  second[1024] = 5 + second[0];
  small[0] = second[1024];
#pragma omp parallel
  __asm__ volatile("" ::: "memory"); /* keeps the region */
  const int status = small[0] == 5 ? 0 : 1;
  free((void*)small);
  free((void*)second);
  return status;
}
