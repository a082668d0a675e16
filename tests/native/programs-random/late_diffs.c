/* A thread has changed many pages that are at home with another when that begins to wait for a flag: its service thread
 * sends home all changes at once, more of them than a connection holds. For 2 nodes of 1 process. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdsm/placement.h"

enum { pages = 6000, ints = SDSM_PAGE_BYTES / sizeof(int), step_us = 200000 };

static volatile int is_done;

int main(void) {
  char written[] = "/tmp/sdsm-late-diffs-XXXXXX";
  close(mkstemp(written));
  int* data = sdsm_galloc(pages * SDSM_PAGE_BYTES, sdsm_round_robin);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    while (access(written, F_OK) == 0) usleep(1000);
    while (!is_done) {
#pragma omp flush
    }
  } else {
    for (int i = 0; i < pages * ints; ++i) data[i] = i + 1;
    unlink(written);
    usleep(step_us);
    is_done = 1;
  }
  int wrong = 0;
  for (int i = 0; i < pages * ints; ++i) wrong += data[i] != i + 1;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
