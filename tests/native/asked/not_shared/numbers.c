// Built as numbers with -O1
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int drawn[2] = {0};
#pragma omp parallel num_threads(2)
  {
    const int self = omp_get_thread_num();
    if (argc > 1 && argv[1][0] == 's') srand(self);
    if (argc > 1 && argv[1][0] == 'e' && self == 1) setenv("SDSM_TEST", "1", 1);
#pragma omp critical
    if (argc == 1 || argv[1][0] == 's' || self == 0) drawn[self] = rand();
  }
  return drawn[0] == 0;
}
