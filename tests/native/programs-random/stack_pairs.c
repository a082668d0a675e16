/* A thread stores to two variables of the initial thread's stack that lie on one page, which its owner has open;
 * another one waits for the second store and then reads the first. Prints how often that was not there. Another
 * thread than the owner stores first at the higher address, the owner first at the lower one: what changes or copies a
 * page by rising addresses comes to them in the other order.
 *
 *   stack_pairs WAITING_THREAD STORING_THREAD ROUNDS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
  volatile int low;
  char between[1024];
  volatile int high;
};

int main(int argc, char** argv) {
  const int waiting = argc > 1 ? atoi(argv[1]) : 0;
  const int storing = argc > 2 ? atoi(argv[2]) : 1;
  const int rounds = argc > 3 ? atoi(argv[3]) : 1000;
  struct pair pair __attribute__((aligned(2048))) = {0, {0}, 0};
  volatile int* const first = storing > 0 ? &pair.high : &pair.low;
  volatile int* const second = storing > 0 ? &pair.low : &pair.high;
  static volatile int seen;
  int older = 0;
#pragma omp parallel reduction(+ : older)
  {
    const int self = omp_get_thread_num();
    for (int round = 1; round <= rounds; ++round) {
      if (self == storing) {
        *first = round;
        __atomic_store_n(second, round, __ATOMIC_RELEASE);
        while (__atomic_load_n(&seen, __ATOMIC_ACQUIRE) != round) {
        }
      } else if (self == waiting) {
        while (__atomic_load_n(second, __ATOMIC_ACQUIRE) != round) {
        }
        if (*first != round) ++older;
        __atomic_store_n(&seen, round, __ATOMIC_RELEASE);
      }
    }
  }
  printf("%d older\n", older);
  return older != 0;
}
