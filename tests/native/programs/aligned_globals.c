/* Variables aligned to more than a page: the linker gives them a segment of their own, beside that of the others. */
#include <omp.h>

#include "expect.h"

enum { threads_most = 64 };

static int initialised[threads_most] = {1, 2, 3};
static _Alignas(65536) int aligned[threads_most];
static _Alignas(65536) int aligned_and_initialised[threads_most] = {4, 5, 6};
static int zeroed[threads_most];

static void store(int thread, int value) {
  initialised[thread] = value;
  aligned[thread] = value + 1;
  aligned_and_initialised[thread] = value + 2;
  zeroed[thread] = value + 3;
}

int main(void) {
  EXPECT(initialised[2] == 3 && aligned_and_initialised[2] == 6);
  int members = 0;
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(omp_get_max_threads() < threads_most ? omp_get_max_threads() : threads_most)
    {
      if (omp_get_thread_num() == 0) members = omp_get_num_threads();
      store(omp_get_thread_num(), 100 * round + omp_get_thread_num());
    }
    for (int i = 0; i < members; ++i) {
      const int value = 100 * round + i;
      EXPECT(initialised[i] == value && aligned[i] == value + 1);
      EXPECT(aligned_and_initialised[i] == value + 2 && zeroed[i] == value + 3);
    }
  }
  return expect_status();
}
