/* What a lock hands on. Each of 20 rounds: the second thread reads an old value on a page that is at home at the first
 * thread; the first one writes it, the named way; then a critical section of the first and, known by a counter, a later
 * one of the second come one after the other; the second reads again. Prints how often it saw the new value.
 *
 * scopes before|inside     the value is written before the first thread's critical section, or in it */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 20, page_bytes = 4096 };

int main(int argc, char** argv) {
  const int is_inside = argc > 1 && strcmp(argv[1], "inside") == 0;
  unsigned char* const block = malloc(4 * rounds * (size_t)page_bytes);
  if (block == NULL) return 2;
  unsigned char* const pages = (unsigned char*)(((uintptr_t)block + page_bytes - 1) / page_bytes * page_bytes);
  static int done; /* under the lock */
  int seen = 0;
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    volatile int* const value = (volatile int*)(pages + (size_t)(round * omp_get_num_threads()) * page_bytes);
    const int thread = omp_get_thread_num();
    int before = 0;
    if (thread == 1) before = *value;
#pragma omp barrier
    if (thread == 0) {
      if (!is_inside) *value = 1;
#pragma omp critical
      {
        if (is_inside) *value = 1;
        done = round + 1;
      }
    }
    if (thread == 1) {
      for (int is_done = 0; !is_done;) {
#pragma omp critical
        is_done = done > round;
      }
      seen += before == 0 && *value == 1;
    }
#pragma omp barrier
  }
  printf("seen %d of %d\n", seen, rounds);
  free(block);
  return 0;
}
