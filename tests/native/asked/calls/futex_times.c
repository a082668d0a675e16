// Built as futex_times with -O1 -w
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int word[1024] __attribute__((aligned(4096)));
static long futex(int operation, long value, const void* limit, int mask) {
  return syscall(SYS_futex, word, operation, value, limit, NULL, mask);
}
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}
int main(void) {
  int wrong = 0, lost = 0, overlooked = 0;
  double waited = 1e9, slept = 0;
  const struct timespec bad[] = {{-1, 0}, {0, -1}, {0, 1000000000}};
  for (int i = 0; i < 3; ++i) wrong += futex(FUTEX_WAIT, 0, &bad[i], 0) != -1 || errno != EINVAL;
#pragma omp parallel num_threads(3) reduction(min : waited) reduction(max : slept) reduction(+ : lost, overlooked)
  for (int round = 0; round < 12; ++round) {
    const int me = omp_get_thread_num();
    const struct timespec limit = {0, 100000000}, patience = {20, 0};
    struct timespec mine;
    clock_gettime(CLOCK_MONOTONIC, &mine);
    mine.tv_sec += 20;
    /* How long a limit lasts at least, beside a sleep of as long at most. */
    if (me == 0 && round < 3) {
      double begin = now();
      futex(FUTEX_WAIT, 0, &limit, 0);
      if (now() - begin < waited) waited = now() - begin;
      begin = now();
      nanosleep(&limit, NULL);
      if (now() - begin > slept) slept = now() - begin;
    }
#pragma omp barrier
    /* A wake ends the wait, whenever it comes, and though the word stays as it is. */
    if (me == 0) lost += futex(FUTEX_WAIT, 0, &patience, 0) != 0;
    if (me == 1) {
      usleep(20000 + round * 977);
      futex(FUTEX_WAKE, 1, NULL, 0);
    }
#pragma omp barrier
    /* A wake for some is not used up by others. */
    if (me < 2) overlooked += futex(FUTEX_WAIT_BITSET, 0, &mine, 1 << me) != 0 && me == 1;
    if (me == 2) {
      usleep(40000);
      futex(FUTEX_WAKE_BITSET, 1, NULL, 1 << 1);
      futex(FUTEX_WAKE, 9, NULL, 0);
    }
#pragma omp barrier
  }
  printf("%d wrong, %d lost, %d overlooked, %s\n", wrong, lost, overlooked,
         waited < 1.5 * slept ? "in time" : "too long");
}
