// Built as serial with -O2 -fno-openmp -Wl,-rpath,$ORIGIN -L. -lneeds_hidden
#include <stdio.h>
double library(int n);
int main(void) {
  double first = library(10000);
  printf("%.0f %.0f\n", first, library(20000));
  return 0;
}
