/* threadprivate: each thread's own copy lasts from region to region; copyin; __thread beside it. */
#include <omp.h>

#include "expect.h"

enum { most_threads = 256 };

static int number = 3;
static double series[600];  // more than a page
#pragma omp threadprivate(number, series)
static __thread int own = -1;

int main(void) {
  static int found[most_threads];
  static int copied[most_threads];
  int team = 1;
  int initial_right = 1;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    if (number != 3 || series[599] != 0 || own != -1) {
#pragma omp critical
      initial_right = 0;
    }
    number = 100 + me;
    own = 200 + me;
    for (int i = 0; i < 600; ++i) series[i] = me + i;
#pragma omp master
    team = omp_get_num_threads();
  }
  EXPECT(initial_right);
  EXPECT(number == 100);  // the initial thread's copy
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    int right = number == 100 + me && own == 200 + me;
    for (int i = 0; i < 600; ++i) right &= series[i] == me + i;
    if (me < most_threads) found[me] = right;
  }
  int right = 1;
  for (int t = 0; t < team && t < most_threads; ++t) right &= found[t];
  EXPECT(right);

  number = 77;
  series[599] = 7.5;
#pragma omp parallel copyin(number, series)
  {
    const int me = omp_get_thread_num();
    if (me < most_threads) copied[me] = number == 77 && series[599] == 7.5 && series[1] == 1;
    number += me;
  }
  right = 1;
  for (int t = 0; t < team && t < most_threads; ++t) right &= copied[t];
  EXPECT(right);
  EXPECT(number == 77);

  // copyprivate of a threadprivate variable.
  int equal = 0;
#pragma omp parallel reduction(+ : equal)
  {
#pragma omp single copyprivate(number)
    number = 4321;
    equal += number == 4321;
  }
  EXPECT(equal == team);
  return expect_status();
}
