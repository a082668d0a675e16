/* A page comes while single-writer mode begins: one process of a node is in it, the other one is not yet. Nothing that
 * is written to the page then may be lost. Threads 3 and 4 stop their processes, so that thread 2 asks for the page
 * before single-writer mode begins, gets it in between, and writes on when all are in it. For 3 nodes of 2 processes.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "sdsm/placement.h"

enum { threads = 6, asks = 2, enters_late = 3, home = 4, ints = SDSM_PAGE_BYTES / sizeof(int), step_us = 200000 };

static pid_t processes[threads];
static volatile int first = 1;
static int count;

int main(void) {
  int* pages = sdsm_galloc(threads * SDSM_PAGE_BYTES, sdsm_round_robin);
  int* page = pages + home * ints;
#pragma omp parallel num_threads(threads)
  {
    const int own = omp_get_thread_num();
    processes[own] = getpid();
#pragma omp barrier
    const pid_t late[] = {processes[home], processes[enters_late]};
#pragma omp barrier
    switch (own) {
      case enters_late:
      case home: kill(getpid(), SIGSTOP); break;
      case asks:
        usleep(step_us);
        for (int i = 0; i < ints; ++i) page[i] = first + i;
        break;
      case 0: usleep(2 * step_us);
#pragma omp atomic
        ++count;
        break;
      case 1:
        usleep(3 * step_us);
        kill(late[0], SIGCONT);
        usleep(step_us);
        kill(late[1], SIGCONT);
        break;
      default: break;
    }
  }
  int wrong = count != 1;
  for (int i = 0; i < ints; ++i) wrong += page[i] != first + i;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
