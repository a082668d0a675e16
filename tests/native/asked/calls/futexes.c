// Built as futexes with -O1 -w
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int word, other, count;
static long futex(int* at, int operation, long value, const void* limit, int* second, int compared) {
  return syscall(SYS_futex, at, operation, value, limit, second, compared);
}
int main(void) {
  int wrong = 0;
  /* By its limit alone, though nobody changes the word: also where every other answer begins the wait anew. */
  for (int turn = 0; turn < 4; ++turn) {
    const struct timespec limit = {0, 20000000};
    wrong += futex(&word, turn % 2 ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0) != -1 || errno != ETIMEDOUT;
  }
  wrong += futex(&word, FUTEX_CMP_REQUEUE, 1, (void*)9l, &other, 1) != -1 || errno != EAGAIN;
  wrong += futex(&word, FUTEX_REQUEUE, 1, (void*)9l, &other, 0) != 0;
#pragma omp parallel
  if (omp_get_thread_num() != 0) {
    while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0) futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0);
    __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
  } else {
    usleep(30000);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    futex(&word, FUTEX_CMP_REQUEUE, 1, (void*)9l, &other, 1);
    futex(&other, FUTEX_WAKE, 9, NULL, NULL, 0);
  }
  wrong += count != omp_get_max_threads() - 1;
  printf("%d wrong\n", wrong);
}
