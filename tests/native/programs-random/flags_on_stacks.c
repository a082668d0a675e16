/* Two threads hand a turn to each other by variables on the stack of one of them. For 2 nodes of 1 process. */
#include <omp.h>
#include <stdio.h>

enum { turns = 60 };

int main(void) {
  volatile int asked = 0, answered = 0;
#pragma omp parallel num_threads(2) shared(asked, answered)
  for (int turn = 1; turn <= turns; ++turn) {
    if (omp_get_thread_num() == 0) {
      asked = turn;
      while (answered != turn) {
      }
    } else {
      while (asked != turn) {
      }
      answered = turn;
    }
  }
  printf("%d turns\n", answered);
  return answered != turns;
}
