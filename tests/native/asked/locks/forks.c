// The same with OpenMP's locks, by hand: who does not get the second one gives the first one back.
#include <omp.h>
#include <stdio.h>
enum { most = 8, meals = 10 };
int main(void) {
  static omp_lock_t fork[most];
  static int eaten[most];
  const int count = omp_get_max_threads() < most ? omp_get_max_threads() : most;
  for (int i = 0; i < most; ++i) omp_init_lock(&fork[i]);
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    if (me < count) {
      for (int meal = 0; meal < meals; ++meal) {
        int left = me, right = (me + 1) % count;
        for (;;) {
          omp_set_lock(&fork[left]);
          if (left == right || omp_test_lock(&fork[right])) break;
          omp_unset_lock(&fork[left]);
          const int other = left;
          left = right;
          right = other;
        }
        ++eaten[me];
        for (volatile int k = 0; k < 2000; ++k) {
        }
        if (left != right) omp_unset_lock(&fork[right]);
        omp_unset_lock(&fork[left]);
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    if (eaten[i] != meals) return 1;
  }
  printf("all have eaten\n");
  return 0;
}
