/* Threads 1 and 2 change the same byte of a word at once, and another one each beside it; and so they do with many
 * words, as one of them may come late. For 3 nodes. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3, rounds = 100, bytes_of_word = 4 };

int main(void) {
  volatile char* words = calloc(rounds, bytes_of_word);
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < rounds; ++round) {
    const int own = omp_get_thread_num();
    volatile char* word = words + bytes_of_word * round;
    if (own > 0) word[0] = word[own] = (char)own;
#pragma omp barrier
  }
  puts("done");
  return 0;
}
