#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
atomic_uint head, tail;
int slots[8];
int main(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  for (int done = 0; done < 20;) {
    const int self = omp_get_thread_num();
    const unsigned h = atomic_load_explicit(&head, memory_order_acquire);
    const unsigned t = atomic_load_explicit(&tail, memory_order_acquire);
    if (self == 0 && t - h < 4) {
      slots[t % 8] = done++;
      atomic_store_explicit(&tail, t + 1, memory_order_release);
    } else if (self == 1 && t != h) {
      wrong += slots[h % 8] != done++;
      atomic_store_explicit(&head, h + 1, memory_order_release);
    } else {
      sched_yield();
    }
  }
  return wrong;
}
