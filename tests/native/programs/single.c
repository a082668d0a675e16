/* single: once per encounter, with and without its barrier; copyprivate. */
#include <omp.h>

#include "expect.h"

enum { rounds = 300, most_threads = 256 };

int main(void) {
  int times = 0;
  int seen_too_early = 0;
#pragma omp parallel
  {
    for (int i = 0; i < rounds; ++i) {
#pragma omp single
      ++times;
      // The barrier at its end: everyone sees the new value, and no one is a round ahead.
      if (times != i + 1) {
#pragma omp critical
        seen_too_early = 1;
      }
#pragma omp barrier
    }
  }
  EXPECT(times == rounds);
  EXPECT(!seen_too_early);

  int counts[rounds] = {0};
#pragma omp parallel shared(counts)
  for (int i = 0; i < rounds; ++i) {
#pragma omp single nowait
    ++counts[i];
  }
  int once = 1;
  for (int i = 0; i < rounds; ++i) once &= counts[i] == 1;
  EXPECT(once);

  // The executing thread's private values reach the others' private variables.
  static struct {
    int number;
    double real;
    int same_pointer;
  } got[most_threads];
  int team = 1;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    int number = -me;
    double real = 0;
    static int target;
    int* pointer = 0;
    for (int i = 0; i < 10; ++i) {
#pragma omp single copyprivate(number, real, pointer)
      {
        number = 1000 + i;
        real = i / 4.0;
        pointer = &target;
      }
      if (me < most_threads) {
        got[me].number += number;
        got[me].real += real;
        got[me].same_pointer += pointer == &target;
      }
    }
#pragma omp master
    team = omp_get_num_threads();
  }
  int right = 1;
  for (int t = 0; t < team && t < most_threads; ++t) {
    right &= got[t].number == 10045 && got[t].real == 11.25 && got[t].same_pointer == 10;
  }
  EXPECT(right);
  return expect_status();
}
