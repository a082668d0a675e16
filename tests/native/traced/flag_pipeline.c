/* Threads hand a turn round by a flag that they read and write with acquire and release: plain moves, no call.
 * flag_pipeline TURNS (of each thread) [calls: a function reads the turn, and another flag before it] */
#include <omp.h>
#include <stdlib.h>

static int turn, is_over;
static long sum;

static __attribute__((noinline)) int look_at(const int* flag) {
  int now = 0;
#pragma omp atomic read acquire
  now = *flag;
  return now;
}

int main(int argc, char** argv) {
  const int turns = argc > 1 ? atoi(argv[1]) : 1;
  const int by_calls = argc > 2;
  int team = 1;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
#pragma omp single
    team = omp_get_num_threads();
    for (int i = 0; i < turns; ++i) {
      int now = 0;
      while (by_calls && !look_at(&is_over) && (now = look_at(&turn)) != i * team + me) {
      }
      do {
#pragma omp atomic read acquire
        now = turn;
      } while (now != i * team + me);
      sum += now;
#pragma omp atomic write release
      turn = now + 1;
    }
  }
  const long all = (long)team * turns;
  return sum != all * (all - 1) / 2;
}
