/* Single-writer mode begins while two processes have changed a page of the other one each: the changes of both are on
 * their way when others ask for these pages. Thread 3 is stopped meanwhile, so that the requests and changes are there
 * together: its own change is still to go to thread 4, which waits until its own one is home. Nobody may wait in a
 * circle. The sleeps only make it likely that things happen in the order of the numbers. For 6 nodes of 1 process. */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "sdsm/placement.h"
#include "sleep_unnoticed.h"

enum { begins = 0, asks_first = 1, asks_second = 2, late = 3, joins = 4, wakes = 5, threads = 6 };
enum { ints = SDSM_PAGE_BYTES / sizeof(int) };

static volatile int goes_on;
static volatile pid_t late_process;

static void await_go(void) {
  while (!goes_on) {
  }
}

/* `of_late` and `of_joins`: pages that are at home with them. */
static void cross(volatile int* of_late, volatile int* of_joins) {
  const pid_t stopped = late_process;
  const int own = omp_get_thread_num();
  if (own == late) of_joins[own] = of_late[own] = 1;
  if (own == joins) of_joins[own] = of_late[own] = 1;
  switch (own) {
    case begins:
      sleep_unnoticed(1);
      kill(stopped, SIGSTOP); /* 1 */
      sleep_unnoticed(1);
      await_go(); /* 2: in single-writer mode, as are all with a smaller number than the one that is stopped */
      break;
    case asks_first:
      sleep_unnoticed(4);
      (void)*of_late; /* 4 */
      goes_on = 1;
      break;
    case asks_second:
      sleep_unnoticed(8);
      (void)*of_joins; /* 8 */
      break;
    case late: sleep_unnoticed(2); break;
    case joins:
      sleep_unnoticed(6);
      await_go(); /* 6: in single-writer mode, before which its change goes to the one that is stopped */
      break;
    case wakes:
      sleep_unnoticed(10);
      kill(stopped, SIGCONT); /* 10 */
      break;
    default: break;
  }
}

int main(void) {
  volatile int* const pages = sdsm_galloc(threads * SDSM_PAGE_BYTES, sdsm_round_robin);
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == late) late_process = getpid();
#pragma omp barrier
    cross(pages + late * ints, pages + joins * ints);
  }
  int wrong = 0;
  for (int of = late; of <= joins; ++of) {
    for (int by = late; by <= joins; ++by) wrong += pages[of * ints + by] != 1;
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
