/* Thread 1 waits for thread 0 by reading a flag, without a call and without a flush. With an argument: for ever. */
#include <omp.h>

static volatile int flag;

int main(int argc, char** argv) {
  (void)argv;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      while (flag == 0) {
      }
    } else if (argc == 1) {
      flag = 1;
    }
  }
  return 0;
}
