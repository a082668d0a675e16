// Built as leaves with -O1
#include <omp.h>
#include <stdlib.h>
static int filled[10000];
int main(int argc, char** argv) {
  const int who = atoi(argv[1]);
#pragma omp parallel for
  for (int i = 0; i < 10000; ++i) filled[i] = i;
#pragma omp parallel
  if (omp_get_thread_num() == who) exit(0);
  return 1;
}
