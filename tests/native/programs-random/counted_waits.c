/* Usage: counted_waits hands-over ROUNDS | in-vain | one-in-vain | both ROUNDS. Two threads wait in loops that count
 * their turns and stop after so many. Prints "N in time, M in vain".
 *
 * hands-over: they hand over ROUNDS times, by turns, and nobody may wait in vain (status 1). in-vain: each waits for
 * what nobody stores. one-in-vain: one does, while the other computes for long. both: they hand over, and then each
 * waits in vain. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { page_words = 4096 / sizeof(int) };
static int flag[page_words] __attribute__((aligned(4096)));
static int never[page_words] __attribute__((aligned(4096)));

static int load(const int* where) {
  return __atomic_load_n(where, __ATOMIC_ACQUIRE);
}

/* Whether it was in time. */
static int wait_for(const int* where, int value, long most_turns) {
  for (long turn = 0; turn < most_turns; ++turn)
    if (load(where) == value) return 1;
  return 0;
}

int main(int argc, char** argv) {
  const long few = 2000000, many = 100000000000;
  const int rounds = argc == 3 ? atoi(argv[2]) : 0;
  int in_time = 0, in_vain = 0;
  if (argc < 2) return 2;
#pragma omp parallel num_threads(2) reduction(+ : in_time, in_vain)
  {
    const int me = omp_get_thread_num();
    if (rounds > 0) {
      for (int round = 0; round < rounds; ++round) {
        const int is_in_time = wait_for(&flag[0], 2 * round + me, many);
        in_time += is_in_time;
        in_vain += !is_in_time;
        __atomic_store_n(&flag[0], 2 * round + me + 1, __ATOMIC_RELEASE);
      }
      if (strcmp(argv[1], "both") == 0) in_vain += !wait_for(&never[0], 1, few);
    } else if (me == 1 || strcmp(argv[1], "in-vain") == 0) {
      in_vain += !wait_for(&never[0], 1, few);
    } else {
      for (volatile int i = 0; i < 30000000; ++i) continue;
    }
  }
  printf("%d in time, %d in vain\n", in_time, in_vain);
  return in_time != 2 * rounds;
}
