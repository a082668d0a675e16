/* A thread waits for a flag by reading it again and again, with flush: no call of the run-time makes it wait. */
#include <omp.h>

#include "expect.h"

int main(void) {
  int data = 0;
  int flag = 0;
  int got = -1;
  int team = 1;
#pragma omp parallel num_threads(2) shared(data, flag, got, team)
  {
#pragma omp master
    team = omp_get_num_threads();
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      data = 42;
#pragma omp flush
#pragma omp atomic write
      flag = 1;
    }
    if (omp_get_thread_num() == 1) {
      int seen = 0;
      while (!seen) {
#pragma omp atomic read
        seen = flag;
#pragma omp flush
      }
      got = data;
    }
  }
  EXPECT(got == (team == 2 ? 42 : -1));
  return expect_status();
}
