// `num_threads`: asks for 5000 threads, and the run has
#include <omp.h>

int main(void) {
  int members = 0;
  omp_set_num_threads(5000);
#pragma omp parallel
#pragma omp critical
  ++members;
  return members != 5000;
}
