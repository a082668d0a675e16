/* What a thread stored goes with the lock of a local peer that saw its flag: thread 2 stores in another thread's stack
 * and sets a flag for thread 3, of the same node; thread 3 gives a lock back, and thread 0 takes it and reads the
 * stack. For 2 nodes of 2 processes. */
#include <omp.h>
#include <stdio.h>

#include "sleep_unnoticed.h"

static volatile int begins, is_stored;
static volatile int* volatile on_stack;

int main(void) {
  int wrong = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(4)
  for (int round = 1; round <= 20; ++round) {
    volatile int stack = 0;
    const int own = omp_get_thread_num();
    if (own == 0) on_stack = &stack;
    if (own == 3) omp_set_lock(&lock);
#pragma omp barrier
    if (own == 1) begins = round;
    while (begins != round) {
    }
    switch (own) {
      case 0:
        omp_set_lock(&lock);
        wrong += stack != round;
        omp_unset_lock(&lock);
        break;
      case 2:
        *on_stack = round;
        is_stored = round;
        sleep_unnoticed_ms(30); /* at the barrier it sends home itself what it stored */
        break;
      case 3:
        while (is_stored != round) {
        }
        omp_unset_lock(&lock);
        break;
      default: break;
    }
#pragma omp barrier
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
