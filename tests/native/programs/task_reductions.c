/* task_reduction, in_reduction, and taskloop with a reduction. */
#include <omp.h>

#include "expect.h"

enum { n = 500 };

int main(void) {
  long sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop reduction(+ : sum) grainsize(20)
  for (int i = 0; i < n; ++i) sum += i;
  EXPECT(sum == (long)n * (n - 1) / 2);

  int total = 100;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : total)
  for (int i = 0; i < 30; ++i) {
#pragma omp task in_reduction(+ : total) firstprivate(i)
    total += i;
  }
  EXPECT(total == 100 + 435);

  int made = 0;
#pragma omp parallel reduction(task, + : made)
  {
#pragma omp task in_reduction(+ : made)
    made += 1;
  }
  EXPECT(made == omp_get_max_threads());
  return expect_status();
}
