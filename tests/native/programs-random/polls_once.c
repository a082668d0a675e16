/* Usage: polls_once yield|usleep|nanosleep READ WRITTEN. A thread comes to a loop that waits for a plain store, which
 * has long been done: it polls once. It has an older copy of what the flag hands on, as that lies on another page. That
 * it has read the old data, and that the new ones are written, threads signal each other by files, of which no memory
 * knows. Prints "0 older" and ends with status 0, or "1 older" and 1. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { page_bytes = 4096 };
static volatile int data[page_bytes / sizeof(int)] __attribute__((aligned(4096)));
static volatile int flag[page_bytes / sizeof(int)] __attribute__((aligned(4096)));

static void make(const char* file) {
  close(open(file, O_WRONLY | O_CREAT, 0600));
}
/* Each turn differs from the one before, so that nobody takes it for a wait. */
static void await(const char* file) {
  for (int turn = 0; access(file, F_OK) != 0; ++turn) usleep(1000 + turn % 100);
}

static void wait_for_flag(char pause) {
  const struct timespec shortly = {0, 1000};
  if (pause == 'y') {
    while (flag[0] == 0) sched_yield();
  } else if (pause == 'u') {
    while (flag[0] == 0) usleep(1);
  } else {
    while (flag[0] == 0) nanosleep(&shortly, NULL);
  }
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  int older = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    older = data[0];
    make(argv[2]);
    await(argv[3]);
    wait_for_flag(argv[1][0]);
    older += data[0] != 1;
  } else {
    /* At home on this thread's node: both are there at once. */
    await(argv[2]);
    data[0] = 1;
    flag[0] = 1;
    make(argv[3]);
  }
  printf("%d older\n", older);
  return older != 0;
}
