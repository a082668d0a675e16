/* A handler of a timer's signals writes shared memory whenever it comes: between touches, in barriers, while its thread
 * allocates, has a lock or waits for one. Ends with 0 if no write of it is lost, as each thread sees.
 *
 * signals CALLS WAY END: WAY: by which call the handler is set; END: whether the timer is `stopped` before the program
 * ends, or still `running` */
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "sdsm/placement.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* sigset() */

enum { pages = 16, page_words = SDSM_PAGE_BYTES / sizeof(long) };

static volatile long* shared;
static __thread volatile long calls;

static void on_timer(int number) {
  (void)number;
  ++shared[calls % pages * page_words];
  ++calls;
}

static void set_handler(const char* way) {
  struct sigaction action = {0};
  action.sa_handler = on_timer;
  if (strcmp(way, "signal") == 0) {
    signal(SIGALRM, on_timer);
  } else if (strcmp(way, "sigset") == 0) {
    sigset(SIGALRM, on_timer);
  } else {
    /* The old action may take the new one's place. */
    sigaction(SIGALRM, &action, strcmp(way, "exchanged") == 0 ? &action : NULL);
  }
}

static void set_timer(long us) {
  const struct itimerval timer = {{0, us}, {0, us}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static long sum_of(long word) {
  long sum = 0;
  for (int page = 0; page < pages; ++page) sum += shared[page * page_words + word];
  return sum;
}

int main(int argc, char** argv) {
  const long wanted = argc > 1 ? atol(argv[1]) : 300;
  const char* way = argc > 2 ? argv[2] : "sigaction";
  const int stops = argc <= 3 || strcmp(argv[3], "stopped") == 0;
  long known = 0;
  int is_over = 0;
  int failures = 0;
  shared = sdsm_galloc(pages * SDSM_PAGE_BYTES, sdsm_block);
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    long rounds = 0;
    int has_failed = 0;
    if (self == 0) {
      set_handler(way);
      set_timer(200);
    }
    for (;;) {
      /* A word of its own on every page, beside the handler's. */
      for (int page = 0; page < pages; ++page) ++shared[page * page_words + 1 + self];
      ++rounds;
      void* blocks[8];
      for (int i = 0; i < 8; ++i) blocks[i] = malloc(40 + 5000 * (i % 2));
      for (int i = 0; i < 8; ++i) free(blocks[i]);
#pragma omp critical
      ++shared[page_words - 1];
      if (self == 0 && calls >= wanted) {
        set_timer(0);
        known = calls;
        is_over = 1;
      }
#pragma omp barrier
      const int ends = is_over;
#pragma omp barrier
      if (ends) break;
    }
    if (sum_of(0) != known) {
      fprintf(stderr, "thread %d: %ld calls of the handler, %ld seen\n", self, known, sum_of(0));
      has_failed = 1;
    }
    if (sum_of(1 + self) != rounds * pages) {
      fprintf(stderr, "thread %d: its own words were lost\n", self);
      has_failed = 1;
    }
    if (shared[page_words - 1] != rounds * omp_get_num_threads()) {
      fprintf(stderr, "thread %d: what was written under the lock was lost\n", self);
      has_failed = 1;
    }
#pragma omp critical
    failures += has_failed;
  }
  if (!stops) set_timer(200);
  return failures != 0;
}
