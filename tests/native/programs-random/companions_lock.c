/* What a thread stored is known to whom its companion tells of it: thread 2 stores in another thread's stack and tells
 * thread 3, of the same node, by a flag; thread 3 gives a lock back, and thread 0 takes it and looks. For 2 nodes of 2
 * processes. */
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

static volatile int begins, is_stored;
static volatile int* volatile on_stack;

/* The run-time hears of the C library's sleeps. */
static void sleep_unheard(void) {
  const struct timespec time = {0, 30000000};
  long result = SYS_nanosleep;
  __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0L) : "rcx", "r11", "memory");
}

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
        sleep_unheard(); /* at the barrier it sends home itself what it stored */
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
