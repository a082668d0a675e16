#include <omp.h>
#include <stdio.h>
volatile int count;
omp_lock_t locks[64];
int main(void) {
  int older = 0;
  for (int i = 0; i < 64; ++i) omp_init_lock(&locks[i]);
#pragma omp parallel reduction(+ : older)
  {
    const int number = omp_get_thread_num();
    for (int i = 0, last = count; i < 1500; ++i) {
      if (i % 3 == number % 3) {
        omp_set_lock(&locks[number]);
        omp_unset_lock(&locks[number]);
      }
      const int made = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
      if (made < last) ++older;
      last = made;
      for (int look = 0; look < 20; ++look) {
        const int seen = count;
        if (seen < last) ++older;
        if (seen > last) last = seen;
      }
    }
  }
  printf("%d older, %d\n", older, count / omp_get_max_threads());
}
