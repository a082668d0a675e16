// Thread 0 waits, nearly all the time inside of the C library's heap. Of thread 1's changes its home hears by what
// the run-time does in a signal then.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int over;
static int shared[16][1024];
static int compare(const void* a, const void* b) {
  return *(const char*)a - *(const char*)b;
}
int main(void) {
#pragma omp parallel num_threads(2)
  {
    static __thread char items[2][100000] = {{1}, {2}};
    if (omp_get_thread_num() == 0) {
      while (!over) qsort(items, 2, sizeof items[0], compare);
    } else {
      for (int i = 0; i < 16; ++i) shared[i][i] = i + 1;
      usleep(200000);
      over = 1;
    }
  }
  puts("end");
}
