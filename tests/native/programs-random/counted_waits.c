/* Usage: counted_waits hands-over ROUNDS | gives-up | one-gives-up | both ROUNDS. Two threads wait in loops that count
 * their turns and give up after so many. Prints "N in time, M given up".
 *
 * hands-over: they hand over ROUNDS times, by turns, and nobody may give up (status 1). gives-up: each waits for what
 * nobody stores. one-gives-up: one does, while the other computes for long. both: they hand over, and then each waits
 * in vain. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { page_words = 4096 / sizeof(int) };
static int flag[page_words] __attribute__((aligned(4096)));
static int never[page_words] __attribute__((aligned(4096)));

static int look(const int* where) {
  return __atomic_load_n(where, __ATOMIC_ACQUIRE);
}

/* Whether it was in time. */
static int wait_for(const int* where, int value, long most_turns) {
  for (long turn = 0; turn < most_turns; ++turn)
    if (look(where) == value) return 1;
  return 0;
}

int main(int argc, char** argv) {
  const long few = 2000000, many = 100000000000;
  const int rounds = argc == 3 ? atoi(argv[2]) : 0;
  int in_time = 0, given_up = 0;
  if (argc < 2) return 2;
#pragma omp parallel num_threads(2) reduction(+ : in_time, given_up)
  {
    const int me = omp_get_thread_num();
    if (rounds > 0) {
      for (int round = 0; round < rounds; ++round) {
        const int is_in_time = wait_for(&flag[0], 2 * round + me, many);
        in_time += is_in_time;
        given_up += !is_in_time;
        __atomic_store_n(&flag[0], 2 * round + me + 1, __ATOMIC_RELEASE);
      }
      if (strcmp(argv[1], "both") == 0) given_up += !wait_for(&never[0], 1, few);
    } else if (me == 1 || strcmp(argv[1], "gives-up") == 0) {
      given_up += !wait_for(&never[0], 1, few);
    } else {
      for (volatile int i = 0; i < 30000000; ++i) continue;
    }
  }
  printf("%d in time, %d given up\n", in_time, given_up);
  return in_time != 2 * rounds;
}
