// A thread sends messages that nobody answers, faster than a cable takes them: in "writes" one for each page of
// which it has a copy (from before the clock is read, from which on the network is slow), in "flags" one for every
// other iteration.
#include <omp.h>
#include <stdio.h>
#include <string.h>
enum { count = 6000 };
static volatile int pages[count][1024] __attribute__((aligned(4096)));
int main(int argc, char** argv) {
  const int writes = argc > 1 && strcmp(argv[1], "writes") == 0;
  double begin = 0;
  long wrong = 0;
#pragma omp parallel num_threads(2)
  {
    const int copies = writes && omp_get_thread_num() == 1 ? count : 0;
    for (int i = 0; i < copies; ++i) (void)pages[i][0];
#pragma omp barrier
    if (omp_get_thread_num() == 0) begin = omp_get_wtime();
#pragma omp barrier
    for (int i = 0; i < copies; ++i) pages[i][0] = i;
#pragma omp for ordered(1) schedule(dynamic, 2 * count)
    for (int i = 0; i < (writes ? 0 : 2 * count); ++i) {
#pragma omp ordered depend(source)
    }
  }
  const double end = omp_get_wtime();
  for (int i = 0; writes && i < count; ++i) wrong += pages[i][0] != i;
  printf("%ld wrong\n", wrong + (end < begin));
  return 0;
}
