/* The last thread stores to two variables of the initial thread's stack that lie on one page, which its owner has open:
 * first to the one with the higher address, then to the other one, for which the owner, or a companion, waits. Who has
 * seen the second store sees the first, too. Prints how often it did not.
 *
 *   stack_pairs WAITING_THREAD ROUNDS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
  volatile int flag;
  char between[1024];
  volatile int data;
};

int main(int argc, char** argv) {
  const int waiting = argc > 1 ? atoi(argv[1]) : 0;
  const int rounds = argc > 2 ? atoi(argv[2]) : 1000;
  struct pair pair __attribute__((aligned(2048))) = {0, {0}, 0};
  static volatile int seen;
  int older = 0;
#pragma omp parallel reduction(+ : older)
  {
    const int self = omp_get_thread_num();
    const int storing = omp_get_num_threads() - 1;
    for (int round = 1; round <= rounds; ++round) {
      if (self == storing) {
        pair.data = round;
        __atomic_store_n(&pair.flag, round, __ATOMIC_RELEASE);
        while (__atomic_load_n(&seen, __ATOMIC_ACQUIRE) != round) {
        }
      } else if (self == waiting) {
        while (__atomic_load_n(&pair.flag, __ATOMIC_ACQUIRE) != round) {
        }
        if (pair.data != round) ++older;
        __atomic_store_n(&seen, round, __ATOMIC_RELEASE);
      }
    }
  }
  printf("%d older\n", older);
  return older != 0;
}
