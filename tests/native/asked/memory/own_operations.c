#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
atomic_int count;
char beside[100];
int own[64 * 1024];
int main(void) {
  int older = 0;
#pragma omp parallel reduction(+ : older)
  {
    int* const mine = &own[(omp_get_num_threads() - 1 - omp_get_thread_num()) * 1024];
    *mine = 100;
    for (int i = 0; i < 10; ++i)
#pragma omp atomic
      ++*mine;
    if (*mine != 110) ++older;
  }
#pragma omp parallel reduction(+ : older)
  for (int i = 0; i < 20; ++i) {
    int seen = atomic_load_explicit(&count, memory_order_relaxed);
    while (!atomic_compare_exchange_strong(&count, &seen, seen + 1))
      seen = atomic_load_explicit(&count, memory_order_relaxed);
    if (atomic_load_explicit(&count, memory_order_relaxed) <= seen) ++older;
    beside[omp_get_thread_num()] = 1;
  }
  printf("%d, %d older\n", count, older);
}
