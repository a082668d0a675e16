#include <omp.h>
#include <stdio.h>
int flags[64 * 1024];
long values[64 * 1024];
int main(void) {
  long wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    const int own = omp_get_thread_num() * 1024;
    for (int turn = 1; turn <= 3; ++turn) {
      for (int seen = 0; own > 0 && seen < turn;) {
#pragma omp flush
#pragma omp atomic read
        seen = flags[own - 1024];
      }
#pragma omp flush
      if (own > 0 && values[own - 1024] < turn) ++wrong;
      values[own] = turn;
#pragma omp flush
#pragma omp atomic write
      flags[own] = turn;
#pragma omp flush
    }
  }
  printf("%ld wrong\n", wrong);
  return wrong != 0;
}
