/* Threads 1 and 2 store to an atomic variable of 4 bytes at once, and one of them changes fewer bytes than the other;
 * and so they do with many, as one of them may come late. For 3 nodes. Prints in how many is what nobody stored. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3, rounds = 100, many_bytes = 0x10203, one_byte = 5 };

int main(void) {
  int* words = calloc(rounds, sizeof *words);
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < rounds; ++round) {
    const int own = omp_get_thread_num();
    if (own > 0) __atomic_store_n(&words[round], own == 1 ? many_bytes : one_byte, __ATOMIC_RELAXED);
#pragma omp barrier
  }
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) wrong += words[round] != many_bytes && words[round] != one_byte;
  printf("%d wrong\n", wrong);
  return 0;
}
