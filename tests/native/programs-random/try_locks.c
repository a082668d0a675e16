/* A lock that has been given back is free for whoever learns of that: omp_test_lock gets it. try_locks [ROUNDS] */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_locks = 8 };

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 50;
  static omp_lock_t locks[most_locks];
  static omp_nest_lock_t nest_locks[most_locks];
  for (int i = 0; i < most_locks; ++i) {
    omp_init_lock(&locks[i]);
    omp_init_nest_lock(&nest_locks[i]);
  }
  int refused = 0;
  int granted = 0;
#pragma omp parallel
  {
    const int own = omp_get_thread_num();
    const int all = omp_get_num_threads();
    for (int round = 0; round < rounds; ++round) {
      omp_lock_t* lock = &locks[round % most_locks];
      omp_nest_lock_t* nest_lock = &nest_locks[round % most_locks];
      if (own == round % all) {
        omp_set_lock(lock);
        omp_set_nest_lock(nest_lock);
        omp_unset_nest_lock(nest_lock);
        omp_unset_lock(lock);
      }
#pragma omp barrier
      int has_lock = 0;
      int has_nest_lock = 0;
      if (own == (round + 1) % all) {
        has_lock = omp_test_lock(lock);
        has_nest_lock = omp_test_nest_lock(nest_lock);
#pragma omp critical
        refused += !has_lock + !has_nest_lock;
      }
#pragma omp barrier
      /* Somebody has them, so the others must not get them. */
      if (refused == 0 && own != (round + 1) % all) {
        has_lock = omp_test_lock(lock);
        has_nest_lock = omp_test_nest_lock(nest_lock);
#pragma omp critical
        granted += has_lock + has_nest_lock;
      }
#pragma omp barrier
      if (has_nest_lock) omp_unset_nest_lock(nest_lock);
      if (has_lock) omp_unset_lock(lock);
#pragma omp barrier
    }
  }
  printf("%d refused, %d granted\n", refused, granted);
  return refused == 0 && granted == 0 ? 0 : 1;
}
