/* Usage: counts_turns plainly|backing-off|in-memory|starting-anew. Threads wait for a plain store in loops that count
 * their turns: each turn changes a register, or the stack, or a variable in memory. They have an older copy of the
 * flag's page and of what it hands on. Prints "0 older" and ends with status 0, or how many were older and 1. */
#include <omp.h>
#include <stdio.h>

enum { page_words = 4096 / sizeof(int), rounds = 3, threads_at_most = 64 };
static int data[page_words] __attribute__((aligned(4096)));
static int flag[page_words] __attribute__((aligned(4096)));
static long turns[threads_at_most][page_words] __attribute__((aligned(4096)));

/* Without a call in unoptimised code. */
static inline __attribute__((always_inline)) int load(const int* where) {
  return __atomic_load_n(where, __ATOMIC_ACQUIRE);
}

static void wait_for(int round, char how, long* count) {
  long n = 0;
  if (how == 'p') {
    while (load(&flag[0]) != round) ++n;
  } else if (how == 'b') {
    while (load(&flag[0]) != round) {
      for (int k = 0; k < 1 << (n & 7); ++k) __builtin_ia32_pause();
      ++n;
    }
  } else if (how == 'i') {
    while (load(&flag[0]) != round) ++*count;
  } else {
    while (load(&flag[0]) != round)
      if (++n > 100000) n = 0;
  }
  *count += n;
}

static int by_flag(char how) {
  int older = 0;
#pragma omp parallel reduction(+ : older)
  for (int round = 1; round <= rounds; ++round) {
    const int me = omp_get_thread_num();
    if (data[0] != round - 1 || load(&flag[0]) != round - 1) ++older;
#pragma omp barrier
    if (me == 0) {
      /* Until the others wait; nothing of this is an operation that orders memory. */
      for (volatile int i = 0; i < 10000000; ++i) continue;
      data[0] = round;
      __atomic_store_n(&flag[0], round, __ATOMIC_RELEASE);
    } else {
      wait_for(round, how, &turns[me][0]);
      older += data[0] != round;
    }
#pragma omp barrier
  }
  return older;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int older = by_flag(argv[1][0]);
  printf("%d older\n", older);
  return older != 0;
}
