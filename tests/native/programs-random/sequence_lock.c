/* A sequence lock by plain loads and stores alone. Its readers wait for nobody: they read once and go on. Prints
 * "whole" if no reader took values of different updates for one. */
#include <omp.h>
#include <stdio.h>

enum { page_words = 4096 / sizeof(long), updates = 300, most_reads = 50000000 };
static unsigned sequence[1024] __attribute__((aligned(4096)));
static long data[3 * page_words] __attribute__((aligned(4096)));

static void update(int number) {
  __atomic_store_n(&sequence[0], 2 * number - 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 3; ++i) __atomic_store_n(&data[i * page_words], number, __ATOMIC_RELEASE);
  __atomic_store_n(&sequence[0], 2 * number, __ATOMIC_RELEASE);
  for (volatile int i = 0; i < 2000; ++i) continue;
}

int main(void) {
  long torn = 0;
#pragma omp parallel reduction(+ : torn)
  if (omp_get_thread_num() == omp_get_num_threads() - 1) {
    for (int number = 1; number <= updates; ++number) update(number);
  } else {
    long last = 0;
    for (long k = 0; last < updates && k < most_reads; ++k) {
      const unsigned before = __atomic_load_n(&sequence[0], __ATOMIC_ACQUIRE);
      const long a = __atomic_load_n(&data[0], __ATOMIC_ACQUIRE);
      const long b = __atomic_load_n(&data[page_words], __ATOMIC_ACQUIRE);
      const long c = __atomic_load_n(&data[2 * page_words], __ATOMIC_ACQUIRE);
      if (before % 2 != 0 || __atomic_load_n(&sequence[0], __ATOMIC_ACQUIRE) != before) continue;
      torn += a != b || b != c || a < last;
      last = a;
    }
  }
  puts(torn == 0 ? "whole" : "torn");
  return torn != 0;
}
