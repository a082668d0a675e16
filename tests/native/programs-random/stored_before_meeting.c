/* A thread stores to its stack, then to a flag, and then finds a page that another one has changed. Who sees the flag
 * afterwards sees the stack as it is, though it has an older copy. The sleeps only make it likely that things happen in
 * the order of the numbers. For 3 nodes of 1 process. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "sdsm/placement.h"

enum { step_us = 20000, turns = 300000000, ints = SDSM_PAGE_BYTES / sizeof(int) };

static volatile int begins;
static volatile int* volatile on_stack;

static void store(volatile int* flag, volatile int* changed, volatile int* copied) {
  volatile int value = 0;
  on_stack = &value;
#pragma omp barrier
  usleep(3 * step_us);
  (void)*copied; /* 4 */
  value = 42;
  __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  (void)*changed;
#pragma omp barrier
}

static void change(volatile int* changed) {
#pragma omp barrier
  usleep(step_us);
  begins = 1; /* 1 */
  usleep(step_us);
  *changed = 1; /* 3 */
#pragma omp barrier
}

static int read_late(volatile int* flag) {
#pragma omp barrier
  while (!begins) {
  }
  const int before = *on_stack;                               /* 2 */
  for (int i = 0; i < turns; ++i) __asm__ volatile("");       /* a system call would drop the copy */
  const int is_set = __atomic_load_n(flag, __ATOMIC_ACQUIRE); /* 5 */
  const int after = *on_stack;
#pragma omp barrier
  return before == 0 && is_set && after != 42;
}

int main(void) {
  volatile int* pages = sdsm_galloc(3 * SDSM_PAGE_BYTES, sdsm_round_robin);
  int wrong = 0;
#pragma omp parallel num_threads(3)
  switch (omp_get_thread_num()) {
    case 0: store(pages, pages + ints, pages + 2 * ints); break;
    case 1: change(pages + ints); break;
    default: wrong = read_late(pages);
  }
  printf("%d wrong\n", wrong);
  return wrong;
}
