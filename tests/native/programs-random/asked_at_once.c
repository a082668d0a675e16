/* Two threads of a node read two pages of another thread's stack at the same time. The first page leaves its home,
 * and comes late; meanwhile it changes there back to what the node had in an earlier copy, and the second page is
 * stored to. Who sees that store sees the first page as it was then. Thread 1 stops processes, so that this happens.
 * The sleeps only make it likely that things happen in the order of the numbers. For 2 nodes of 2 processes. */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "sdsm/placement.h"
#include "sleep_unnoticed.h"

enum { home = 0, stops = 1, waits = 2, reads = 3, threads = 4 };

static volatile int begins;
static int operated;
static volatile int* volatile first_page;
static volatile int* volatile second_page;
static volatile pid_t processes[threads];

static int meet(void) {
  const int own = omp_get_thread_num();
  if (own == 0) begins = 1;
  while (!begins) {
  }
  volatile int* const x = first_page;
  volatile int* const y = second_page;
  const pid_t of_home = processes[home];
  const pid_t of_waiting = processes[waits];
  int is_older = 0;
#pragma omp barrier
  switch (own) {
    case home:
      *x = 1; /* 0 */
      sleep_unnoticed(3);
      *x = 0; /* 3 */
      sleep_unnoticed(6);
      *x = 1; /* 9 */
      *y = 1;
      break;
    case stops:
      sleep_unnoticed(4);
      kill(of_home, SIGSTOP); /* 4 */
      sleep_unnoticed(2);
      kill(of_waiting, SIGSTOP); /* 6 */
      sleep_unnoticed(1);
      kill(of_home, SIGCONT); /* 7 */
      sleep_unnoticed(5);
      kill(of_waiting, SIGCONT); /* 12 */
      break;
    case waits:
      sleep_unnoticed(5);
      (void)*x; /* 5 */
      break;
    case reads:
      sleep_unnoticed(1);
      (void)*x; /* 1: the earlier copy */
      sleep_unnoticed(1);
      __atomic_fetch_add(&operated, 1, __ATOMIC_SEQ_CST); /* 2: behind which it is gone */
      sleep_unnoticed(9);
      is_older = *y == 1 && *x == 0; /* 11 */
      break;
    default: break;
  }
#pragma omp barrier
  return is_older;
}

int main(void) {
  int older = 0;
#pragma omp parallel num_threads(threads) reduction(+ : older)
  {
    SDSM_PAGE_ALIGNED volatile int stack[2 * SDSM_PAGE_BYTES / sizeof(int)];
    processes[omp_get_thread_num()] = getpid();
    if (omp_get_thread_num() == home) {
      first_page = stack;
      second_page = stack + SDSM_PAGE_BYTES / sizeof(int);
      *first_page = *second_page = 0;
    }
#pragma omp barrier
    older = meet();
  }
  printf("%d older\n", older);
  return older != 0;
}
