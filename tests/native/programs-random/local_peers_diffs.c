/* Two processes of a node change a variable in another thread's stack in turn, and both send the change home: one when
 * a downgrade request takes its page, the other for the same reason, or ("barrier") when its thread comes to a barrier.
 * The later change stays, though the earlier one may be on its way. That one comes in several messages, as the whole
 * page changes with it. Thread 1, whose stack it is, stops its process meanwhile, so that what comes is there together.
 * The sleeps only make it likely that things happen in the order of the numbers. For 2 nodes of 3 processes. */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sdsm/placement.h"
#include "sleep_unnoticed.h"

enum { threads = 6, home = 1, wakes = 2, first = 3, second = 4, ints = SDSM_PAGE_BYTES / sizeof(int) };

static volatile int begins, have_come;
static volatile int* volatile on_stack;
static pid_t processes[threads];

static void meet(volatile int* page, int is_by_barrier) {
  const int own = omp_get_thread_num();
  if (own == 0) begins = 1;
  while (!begins) {
  }
  volatile int* const value = on_stack + ints - 1;
#pragma omp barrier
  if (own == first) {
    *value = 1;
    *page = 1;
    have_come = 1;
  }
  while (!have_come) {
  }
  switch (own) {
    case 0:
      sleep_unnoticed(4);
      (void)*page; /* 4 */
      break;
    case home:
      sleep_unnoticed(3);
      kill(getpid(), SIGSTOP); /* 3 */
      break;
    case wakes:
      sleep_unnoticed(6);
      kill(processes[second], SIGCONT); /* 6 */
      sleep_unnoticed(2);
      kill(processes[home], SIGCONT); /* 8 */
      break;
    case first:
      sleep_unnoticed(1);
      for (int i = 0; i < ints; ++i) on_stack[i] = 2; /* 1 */
      *page = 2;
      sleep_unnoticed(4);
      if (!is_by_barrier) *value = 3; /* 5 */
      sleep_unnoticed(4);
      break;
    case second:
      sleep_unnoticed(2);
      if (is_by_barrier) value[-1] = 2; /* 2 */
      sleep_unnoticed(1);
      kill(getpid(), SIGSTOP);       /* 3 */
      if (is_by_barrier) *value = 3; /* 6 */
      break;
    default: break;
  }
#pragma omp barrier
}

int main(int argc, char** argv) {
  const int is_by_barrier = argc > 1 && strcmp(argv[1], "barrier") == 0;
  volatile int* page = sdsm_galloc(SDSM_PAGE_BYTES, sdsm_round_robin);
  int found = -1;
#pragma omp parallel num_threads(threads)
  {
    SDSM_PAGE_ALIGNED int stack[ints];
    memset(stack, 0, sizeof stack);
    processes[omp_get_thread_num()] = getpid();
    if (omp_get_thread_num() == home) on_stack = stack;
#pragma omp barrier
    meet(page, is_by_barrier);
    if (omp_get_thread_num() == home) found = *(volatile int*)&stack[ints - 1];
  }
  printf("%d\n", found);
  return found != 3;
}
