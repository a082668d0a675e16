/* Updates by loops of compare-and-exchange, as compilers make them: a reduction of floating-point numbers and an atomic
 * product. And, without an argument, a lock that one
 * gets by compare-and-exchange, and a compare that fails before another one, which does not. */
#include <omp.h>

enum { rounds = 20, most_threads = 64 };

static double product = 1;
static int lock;
static int guarded;
static int words[most_threads];

int main(int argc, char** argv) {
  (void)argv;
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel reduction(+ : sum)
    sum += 0.5;
  }
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
#pragma omp atomic
    product *= -1;
    if (*(volatile double*)&product == 0) __builtin_trap(); /* it can be read afterwards */
  }
  if (argc > 1) return sum > 0 && product == 1 ? 0 : 1;
#pragma omp parallel
  {
    int open = 0;
    while (!__atomic_compare_exchange_n(&lock, &open, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) open = 0;
    ++guarded;
    __atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE);
  }
#pragma omp parallel
  {
    int* const own = &words[omp_get_thread_num()];
    __atomic_store_n(own, 1, __ATOMIC_RELAXED);
    for (int round = 0; round < rounds; ++round) {
      int none = 0;
      __atomic_compare_exchange_n(own, &none, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      int found = none;
      while (!__atomic_compare_exchange_n(own, &found, found + 3, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      }
    }
  }
  return sum > 0 && product == 1 && guarded > 0 && words[0] == 1 + 3 * rounds ? 0 : 1;
}
