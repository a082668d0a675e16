/* A process fetches a page with a flag. Because of the flag its node has to drop an older copy of another thread's
 * stack, and waits until what was changed in that is home. A local peer that reads the flag meanwhile must not find
 * the older copy behind it. Thread 1, whose stack it is, and thread 5, at whose process the flag is at home, stop their
 * processes so that this takes long. The sleeps only make it likely that things happen in the order of the numbers. For
 * 3 nodes of 2 processes. */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sdsm/placement.h"
#include "sleep_unnoticed.h"

enum { threads = 6, owner = 1, fetches = 2, reads = 3, wakes = 4, home = 5 };
enum { ints = SDSM_PAGE_BYTES / sizeof(int) };

static volatile int begins, is_seen;
static volatile int* volatile on_stack;
static pid_t processes[threads];

/* Returns whether the value is older than the flag. */
static int meet(volatile int* flag, volatile int* downgraded) {
  const int own = omp_get_thread_num();
  const pid_t late[] = {processes[owner], processes[home]};
  if (own == 0) begins = 1;
  while (!begins) {
  }
  volatile int* const value = on_stack;
  int is_older = 0;
#pragma omp barrier
  switch (own) {
    case 0:
      sleep_unnoticed(5);
      (void)*downgraded; /* 5: what node 1 has changed in the stack begins to go home */
      break;
    case owner:
      sleep_unnoticed(1);
      *value = 42; /* 1 */
      *flag = 1;
      while (!is_seen) {
      }
      sleep_unnoticed(1);
      kill(getpid(), SIGSTOP); /* 3 */
      break;
    case fetches:
      sleep_unnoticed(4);
      (void)*flag; /* 4 */
      break;
    case reads:
      *downgraded = 1; /* 0 */
      value[1] = 1;
      sleep_unnoticed(7);
      is_older = *flag == 1 && *value != 42; /* 7 */
      break;
    case wakes:
      sleep_unnoticed(2);
      (void)*flag; /* 2: thread 1 writes it no more */
      is_seen = 1;
      sleep_unnoticed(4);
      kill(late[1], SIGCONT); /* 6 */
      sleep_unnoticed(2);
      kill(late[0], SIGCONT); /* 8 */
      break;
    default:
      while (!is_seen) {
      }
      sleep_unnoticed(1);
      kill(getpid(), SIGSTOP); /* 3 */
  }
#pragma omp barrier
  return is_older;
}

int main(void) {
  volatile int* pages = sdsm_galloc(threads * SDSM_PAGE_BYTES, sdsm_round_robin);
  int is_older = 0;
#pragma omp parallel num_threads(threads)
  {
    SDSM_PAGE_ALIGNED int stack[ints];
    memset(stack, 0, sizeof stack);
    processes[omp_get_thread_num()] = getpid();
    if (omp_get_thread_num() == owner) on_stack = stack;
#pragma omp barrier
    const int is_older_here = meet(pages + home * ints, pages);
    if (is_older_here) is_older = 1;
  }
  printf("%d older\n", is_older);
  return is_older;
}
