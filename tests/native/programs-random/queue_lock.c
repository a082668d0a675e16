/* Usage: queue_lock TIMES. A lock whose threads wait in a row (Mellor-Crummey and Scott), each at a place on its own
 * stack; it guards a sum on the initial thread's stack and a static one. A thread hands it on by a plain store to the
 * next one's stack. Says "right" if no addition is lost. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
struct place {
  struct place* next;
  int waits;
};
static void lock(struct place** tail, struct place* mine) {
  __atomic_store_n(&mine->next, NULL, __ATOMIC_RELAXED);
  __atomic_store_n(&mine->waits, 1, __ATOMIC_RELAXED);
  struct place* before = __atomic_exchange_n(tail, mine, __ATOMIC_ACQ_REL);
  if (before) {
    __atomic_store_n(&before->next, mine, __ATOMIC_RELEASE);
    while (__atomic_load_n(&mine->waits, __ATOMIC_ACQUIRE)) continue;
  }
}
static void unlock(struct place** tail, struct place* mine) {
  struct place* next = __atomic_load_n(&mine->next, __ATOMIC_ACQUIRE);
  if (!next) {
    struct place* expected = mine;
    if (__atomic_compare_exchange_n(tail, &expected, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
    while (!(next = __atomic_load_n(&mine->next, __ATOMIC_ACQUIRE))) continue;
  }
  __atomic_store_n(&next->waits, 0, __ATOMIC_RELEASE);
}
static long static_sum;

/* On a page of its own. */
#define PAGES_BETWEEN(name, bytes) \
  char name[bytes];                \
  __asm__ volatile("" ::"r"(name) : "memory")

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int times = atoi(argv[1]);
  struct place* tail = NULL;
  PAGES_BETWEEN(before, 9000);
  long stack_sum = 0;
#pragma omp parallel
  {
    struct place mine;
    PAGES_BETWEEN(behind, 5000);
    for (int i = 0; i < times; ++i) {
      lock(&tail, &mine);
      stack_sum += i;
      static_sum += i;
      unlock(&tail, &mine);
    }
  }
  const long all = (long)omp_get_max_threads() * times * (times - 1) / 2;
  if (stack_sum == all && static_sum == all) return puts("right") < 0;
  printf("%ld on the stack, %ld static, instead of %ld\n", stack_sum, static_sum, all);
  return 1;
}
