/* Ends in one of many ways, from one of its threads: endings HOW THREAD STATUS, with HOW one of
 *   exit, quick_exit, _exit     while the others wait at a barrier
 *   computing                   exit, while the others compute and come to a barrier later
 *   locked                      exit, while it holds a lock that the others wait for
 * What atexit and at_quick_exit registered says so. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* how;
static omp_lock_t lock;

static void at_exit(void) {
  puts("atexit");
  fflush(stdout);
}

static void at_quick_exit_(void) {
  puts("at_quick_exit");
  fflush(stdout);
}

static void end(int status) {
  if (strcmp(how, "quick_exit") == 0) quick_exit(status);
  if (strcmp(how, "_exit") == 0) _exit(status);
  exit(status);
}

int main(int argc, char** argv) {
  if (argc != 4) return 99;
  how = argv[1];
  const int thread = atoi(argv[2]);
  const int status = atoi(argv[3]);
  omp_init_lock(&lock);
  atexit(at_exit);
  at_quick_exit(at_quick_exit_);
  puts("begin");
  fflush(stdout);
#pragma omp parallel
  {
    const int is_locked = strcmp(how, "locked") == 0;
    if (omp_get_thread_num() == thread) {
      if (is_locked) omp_set_lock(&lock);
#pragma omp critical
      fprintf(stderr, "thread %d ends\n", thread);
      if (is_locked) usleep(300000);
      end(status);
    }
    if (is_locked) {
      usleep(100000);
      omp_set_lock(&lock);
    }
    if (strcmp(how, "computing") == 0) {
      for (volatile long i = 0; i < 100000000; ++i) {
      }
    }
#pragma omp barrier
  }
  return 98;
}
