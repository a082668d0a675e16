/* Thread 1 waits for thread 0 by reading a flag, without a call and without a flush. */
#include <omp.h>

static volatile int flag;

int main(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      while (flag == 0) {
      }
    } else {
      flag = 1;
    }
  }
  return 0;
}
