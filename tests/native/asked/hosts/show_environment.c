// Built as show_environment with -O0
#include <omp.h>
#include <stdio.h>
extern char** environ;
int main(void) {
  for (char** one = environ; *one; ++one) puts(*one);
  return omp_get_max_threads() != 2;
}
