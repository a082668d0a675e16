/* taskgroup and taskloop. */
#include <limits.h>
#include <omp.h>

#include "expect.h"

enum { n = 1000 };

int main(void) {
  int after_group = -1;
  int count = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 20; ++i) {
#pragma omp task shared(count)
        {
          // Grandchildren too are waited for, unlike by taskwait.
#pragma omp task shared(count)
          {
#pragma omp critical
            ++count;
          }
        }
      }
    }
#pragma omp critical
    after_group = count;
  }
  EXPECT(after_group == 20);

  static int visits[n];
  const unsigned long long base = ULLONG_MAX - 5000;  // above what a signed counter holds
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < n; ++i) ++visits[i];
#pragma omp taskloop grainsize(7)
    for (int i = n - 1; i >= 0; --i) ++visits[i];
#pragma omp taskloop num_tasks(5)
    for (unsigned long long i = base; i < base + n; ++i) ++visits[i - base];
#pragma omp taskloop nogroup if (0)
    for (int i = 0; i < n; i += 2) ++visits[i];
#pragma omp taskwait
  }
  int right = 1;
  for (int i = 0; i < n; ++i) right &= visits[i] == 3 + (i % 2 == 0);
  EXPECT(right);

  int offset = 3;
  int last = -1;
  static int values[n];
#pragma omp parallel
#pragma omp single
#pragma omp taskloop collapse(2) firstprivate(offset) lastprivate(last)
  for (int i = 0; i < n / 10; ++i) {
    for (int j = 0; j < 10; ++j) {
      values[i * 10 + j] = i * 10 + j + offset;
      last = i * 10 + j;
    }
  }
  right = 1;
  for (int i = 0; i < n; ++i) right &= values[i] == i + 3;
  EXPECT(right);
  EXPECT(last == n - 1);
  return expect_status();
}
