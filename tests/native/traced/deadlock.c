/* Thread 0 waits at a barrier that thread 1 never reaches: it waits for a lock that thread 0 holds. */
#include <omp.h>

int main(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      omp_set_lock(&lock);
#pragma omp barrier
    } else {
#pragma omp flush
      while (omp_test_lock(&lock)) omp_unset_lock(&lock);
      omp_set_lock(&lock);
    }
  }
  return 0;
}
