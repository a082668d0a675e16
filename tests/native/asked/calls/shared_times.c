// Built as shared_times with -O1 -w
// Of a page that no thread but the initial one has touched.
#include <stdio.h>
#include <threads.h>
#include <time.h>
static struct timespec time_of[4096];
int main(void) {
  enum { each = 256, calls = 3 };  // a page
  int wrong[calls] = {0};
  for (int i = 0; i < calls; ++i) time_of[(1 + i) * each].tv_nsec = 1000000;
#pragma omp parallel reduction(+ : wrong)
  {
    wrong[0] += thrd_sleep(&time_of[each], NULL) != 0;
    wrong[1] += nanosleep(&time_of[2 * each], NULL) != 0;
    wrong[2] += clock_nanosleep(CLOCK_MONOTONIC, 0, &time_of[3 * each], NULL) != 0;
    thrd_yield();
  }
  printf("%d %d %d\n", wrong[0], wrong[1], wrong[2]);
}
