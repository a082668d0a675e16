/* private, firstprivate, lastprivate, shared: scalars, arrays, arrays of variable length, default(none). */
#include <omp.h>
#include <stdlib.h>

#include "expect.h"

enum { n = 1000 };

int main(void) {
  int a = 1;
  int b = 2;
  int array[50];
  for (int i = 0; i < 50; ++i) array[i] = i;
  int wrong = 0;
#pragma omp parallel default(none) private(a) firstprivate(b, array) shared(wrong)
  {
    a = omp_get_thread_num();
    int right = b == 2;
    for (int i = 0; i < 50; ++i) right &= array[i] == i;
    b += a;
    for (int i = 0; i < 50; ++i) array[i] = b;
#pragma omp barrier
    right &= b == 2 + a && array[49] == b;
    if (!right) {
#pragma omp critical
      wrong = 1;
    }
  }
  EXPECT(!wrong);
  EXPECT(a == 1 && b == 2 && array[7] == 7);

  const int length = atoi("700");
  double variable[length];
  for (int i = 0; i < length; ++i) variable[i] = i;
  double sum = 0;
#pragma omp parallel firstprivate(variable) reduction(+ : sum)
  {
    variable[length - 1] += omp_get_thread_num();
    sum += variable[length - 1] - omp_get_thread_num() == length - 1;
  }
  EXPECT(sum == omp_get_max_threads());
  EXPECT(variable[length - 1] == length - 1);

  int last = -1;
  int both = 10;
  double pair[2] = {0, 0};
#pragma omp parallel for lastprivate(last, pair) firstprivate(both) lastprivate(both) schedule(static, 3)
  for (int i = 0; i < n; ++i) {
    last = i;
    both = 10 + i;
    pair[0] = i;
    pair[1] = -i;
  }
  EXPECT(last == n - 1 && both == 10 + n - 1 && pair[0] == n - 1 && pair[1] == 1 - n);

#pragma omp parallel for lastprivate(conditional : last) schedule(dynamic, 11)
  for (int i = 0; i < n; ++i) {
    if (i % 300 == 17) last = i;
  }
  EXPECT(last == 917);

  int i = -5;
#pragma omp parallel for linear(i : 2)
  for (int k = 0; k < 100; ++k) i += 2;
  EXPECT(i == 195);
  return expect_status();
}
