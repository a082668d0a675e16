// Built as static_data_O0 with -O0 ./static_c_O0.so ./static_cxx_O0.so
// Built as static_data_O2 with -O2 ./static_c_O2.so ./static_cxx_O2.so
#include <stdio.h>
int fill(int, int (*)(int)), sum(void);
static int base;
static int value(int i) {
  return base + 3 * i;
}
int main(void) {
  base = 11;
  int first = fill(10000, value), second = sum(), members = 0;
#pragma omp parallel reduction(+ : members)
  ++members;
  printf("%d %d %d\n", first, second, members);
}
