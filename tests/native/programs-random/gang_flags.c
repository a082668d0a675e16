/* A thread stores beside a flag, to many pages, to a variable and to the flag, and comes to its gang's barrier, which
 * sends all that home in this order. A thread of another gang that begins to wait for the flag meanwhile finds the
 * variable as it is, though it has older copies of both. It stops its process until the barrier begins. The sleeps only
 * make it likely that things happen in this order. For 4 nodes of 1 process. */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "sdsm/divide.h"
#include "sdsm/placement.h"
#include "sleep_unnoticed.h"

enum {
  threads = 4,
  stores = 1,
  waits = 2,
  pages = 40000,
  ints = SDSM_PAGE_BYTES / sizeof(int),
  first_ms = 200,
  shortly_ms = 30
};

static pid_t processes[threads];

static int meet(volatile int* page) {
  const int own = omp_get_thread_num();
  volatile int* const flag = page;                       /* at process 0 */
  volatile int* const value = page + (pages - 1) * ints; /* at process 3 */
  int is_older = 0;
  if (own == stores) {
    flag[1] = 1;
    for (int i = threads; i < pages; i += threads) page[i * ints] = 1;
    *value = 42;
    flag[0] = 1;
    sleep_unnoticed_ms(first_ms);
    kill(processes[waits], SIGCONT);
  } else if (own == waits) {
    const int before = flag[0] + *value;
    kill(getpid(), SIGSTOP);
    sleep_unnoticed_ms(shortly_ms);
    while (flag[0] == 0) {
    }
    is_older = before == 0 && *value != 42;
  }
  if (own < waits) sdsm_gang_barrier();
  return is_older;
}

int main(void) {
  volatile int* page = sdsm_galloc((size_t)pages * SDSM_PAGE_BYTES, sdsm_round_robin);
  int older = 0;
#pragma omp parallel num_threads(threads) reduction(+ : older)
  {
    processes[omp_get_thread_num()] = getpid();
#pragma omp barrier
    SDSM_DIVIDE(sdsm_by_block, 2, 1) {
      older += meet(page);
    }
  }
  printf("%d older\n", older);
  return older;
}
