// Built as early_futex with -O1 -w
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int word;
int main(void) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += 1000;
  const long waited = syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
  printf("%ld %ld\n", waited, syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &limit, NULL, FUTEX_BITSET_MATCH_ANY));
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  return threads < 2;
}
