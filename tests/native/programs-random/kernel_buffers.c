/* System calls with buffers in shared pages, while other threads take locks and so shut the node's copies: no call may
 * fail for that, and what it moved must be whole. Says "through" if all is well. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { bytes = 512, page = 4096, rounds = 1500 };

static omp_lock_t locks[64];

int main(void) {
  const int threads = omp_get_max_threads();
  char* buffers = aligned_alloc(page, (size_t)(2 * threads) * page);
  if (buffers == NULL) return 1;
  memset(buffers, 0, (size_t)(2 * threads) * page);
  for (int i = 0; i < 64; ++i) omp_init_lock(&locks[i]);
  int failed = 0;
  int wrong = 0;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    int own_failed = 0;
    int own_wrong = 0;
    if (me % 2 == 0) {
      /* Of its home, the next thread has one: another node's. */
      char* buffer = buffers + (me + threads / 2) % (2 * threads) * page;
      int ends[2];
      if (pipe(ends) != 0) own_failed = rounds;
      for (int round = 0; round < rounds && own_failed < rounds; ++round) {
        if (pthread_getaffinity_np(pthread_self(), bytes, (cpu_set_t*)buffer) != 0) ++own_failed;
        memset(buffer, round, bytes);
        if (write(ends[1], buffer, bytes) != bytes) {
          own_failed++;
          continue;
        }
        memset(buffer, 0, bytes);
        if (read(ends[0], buffer, bytes) != bytes) {
          own_failed = rounds;
          continue;
        }
        for (int i = 0; i < bytes; ++i) own_wrong += buffer[i] != (char)round;
      }
    } else {
      for (int round = 0; round < rounds; ++round) {
        omp_set_lock(&locks[me]);
        omp_unset_lock(&locks[me]);
      }
    }
#pragma omp critical
    {
      failed += own_failed;
      wrong += own_wrong;
    }
  }
  if (failed > 0 || wrong > 0) {
    printf("%d calls failed, %d bytes are wrong\n", failed, wrong);
    return 1;
  }
  puts("through");
  return 0;
}
