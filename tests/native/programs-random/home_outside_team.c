/* A page's home is outside of the team, a local peer in it. At the team's barrier the home goes on knowing which node
 * may write the page; the peer, whose node had to give up its right since the barrier before, must ask before it reads.
 * The sleep makes it likely that thread 0 takes the page from thread 2 within one interval. For 2 nodes of 2 processes
 * (the page is thread 3's). */
#include <omp.h>
#include <stdio.h>
#include <time.h>

#include "sdsm/placement.h"
#include "sleep_unnoticed.h"

enum { home = 3, peer = 2, patience_s = 2, ints = SDSM_PAGE_BYTES / sizeof(int) };

static volatile int begins;

static time_t time_in_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

int main(void) {
  volatile int* page = (volatile int*)sdsm_galloc(4 * SDSM_PAGE_BYTES, sdsm_round_robin) + home * ints;
  int missed = 0;
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 0) begins = 1;
    while (!begins) {
    }
  }
#pragma omp parallel num_threads(3)
  {
    const int own = omp_get_thread_num();
    if (own == peer) page[1] = 1;
    if (own == 0) {
      sleep_unnoticed_ms(1000 * patience_s);
      page[2] = 1;
    }
#pragma omp barrier
    if (own == 0) {
      page[0] = 1;
      sleep_unnoticed_ms(1000 * patience_s); /* at a barrier it might send the change home */
    }
    if (own == peer) {
      const time_t begun = time_in_s();
      while (page[0] != 1 && time_in_s() - begun < patience_s) {
      }
      missed = page[0] != 1;
    }
#pragma omp barrier
  }
  printf("%d missed\n", missed);
  return missed;
}
