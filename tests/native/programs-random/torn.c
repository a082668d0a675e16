/* Threads 1 and 2 change the same byte of a word at once, and another one each beside it. For 3 nodes. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3 };

int main(void) {
  volatile char* word = calloc(4, 1);
#pragma omp parallel num_threads(threads)
  {
    const int own = omp_get_thread_num();
    if (own > 0) word[0] = word[own] = (char)own;
  }
  puts("done");
  return 0;
}
