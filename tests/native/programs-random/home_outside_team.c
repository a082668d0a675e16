/* A page's home is outside of the team, its companion in it. At the team's barrier the home goes on knowing which node
 * may write the page; the companion, whose node had to give it up since the barrier before, must ask before it reads.
 * The sleep makes it likely that thread 0 takes the page from thread 2 within one interval. For 2 nodes of 2 processes
 * (the page is thread 3's). */
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#include "sdsm/placement.h"

enum { home = 3, companion = 2, patience_s = 2, ints = SDSM_PAGE_BYTES / sizeof(int) };

static volatile int begins;

/* The run-time hears of the C library's sleeps. */
static void sleep_unheard(void) {
  const struct timespec time = {patience_s, 0};
  long result = SYS_nanosleep;
  __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(0L) : "rcx", "r11", "memory");
}

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
    if (own == companion) page[1] = 1;
    if (own == 0) {
      sleep_unheard();
      page[2] = 1;
    }
#pragma omp barrier
    if (own == 0) {
      page[0] = 1;
      sleep_unheard(); /* at a barrier it might send the change home */
    }
    if (own == companion) {
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
