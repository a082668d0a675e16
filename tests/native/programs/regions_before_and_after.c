/* Regions in a constructor and at exit, with locks, loops, tasks and threadprivate data. */
#include "expect.h"

#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum { n = 200 };
static int before[n], tasks, own;
static omp_lock_t lock;
#pragma omp threadprivate(own)

static int sum_of(const int* values) {
  int sum = 0;
#pragma omp parallel for schedule(dynamic, 9)
  for (int i = 0; i < n; ++i) {
#pragma omp critical
    sum += values[i];
  }
  return sum;
}

__attribute__((constructor)) static void begin(void) {
  omp_init_lock(&lock);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) before[i] = i;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    {
      omp_set_lock(&lock);
      ++tasks;
      omp_unset_lock(&lock);
    }
  }
#pragma omp parallel for ordered(1)
  for (int i = 1; i < n; ++i) {
#pragma omp ordered depend(sink : i - 1)
    before[i] += before[i - 1] > 0 ? 0 : 0;
#pragma omp ordered depend(source)
  }
#pragma omp target map(tofrom : tasks)
  ++tasks;
  own = omp_get_max_threads();
}

static void end(void) {
  if (sum_of(before) == n * (n - 1)) return;
  fputs("a wrong sum at exit\n", stderr);
  _exit(3);
}

int main(void) {
  atexit(end);
  EXPECT(sum_of(before) == n * (n - 1) / 2);
  EXPECT(tasks == 2);
  EXPECT(own == omp_get_max_threads());
#pragma omp parallel for
  for (int i = 0; i < n; ++i) before[i] *= 2;
  omp_set_lock(&lock);
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  return expect_status();
}
