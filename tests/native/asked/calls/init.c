// Built as init with -O1 -w ./init_library.so
#include <stdio.h>
#include <stdlib.h>
int made_once(void);
static int* early;
static void begin_early(void) {
  early = calloc(1, 4);
}
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = begin_early;
int main(void) {
  int right = 0;
#pragma omp parallel reduction(+ : right)
  right += made_once();
#pragma omp parallel
#pragma omp atomic
  ++*early;
  printf("%d\n", right == *early);
}
