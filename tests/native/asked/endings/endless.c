// Built as endless with -O0
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
#pragma omp parallel
  for (; omp_get_thread_num() != 1; usleep(1000))
    if (omp_get_thread_num() == 0) exit(0);
}
