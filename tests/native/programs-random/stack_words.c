/* Threads 1 and 2 store to the same atomic variables of 4 bytes at once, on the stack of thread 0: values that differ
 * in each byte, or, with the argument "any", some that have a byte in common. For 3 nodes. Prints how many variables
 * are what nobody stored. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "sdsm/placement.h"
#include "tests/native/programs-random/meetings.h"

enum { threads = 3, words = SDSM_PAGE_BYTES / sizeof(uint32_t) };

static uint32_t before(uint32_t word) {
  return word * 0x9e3779b9u;
}
static uint32_t value_of(uint32_t word, int thread, int is_any) {
  const uint32_t drawn = (word * threads + (uint32_t)thread) * 0x85ebca6bu;
  return is_any ? drawn : (uint32_t)stored_at_once(before(word), drawn >> 8);
}

int main(int argc, char** argv) {
  const int is_any = argc > 1 && strcmp(argv[1], "any") == 0;
  SDSM_PAGE_ALIGNED uint32_t stack[words];
  for (uint32_t i = 0; i < words; ++i) stack[i] = before(i);
#pragma omp parallel num_threads(threads) shared(stack)
  {
    const int own = omp_get_thread_num();
    for (uint32_t i = 0; own > 0 && i < words; ++i) {
      __atomic_store_n(&stack[i], value_of(i, own, is_any), __ATOMIC_RELAXED);
    }
  }
  int wrong = 0;
  for (uint32_t i = 0; i < words; ++i) {
    wrong += stack[i] != value_of(i, 1, is_any) && stack[i] != value_of(i, 2, is_any);
  }
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
