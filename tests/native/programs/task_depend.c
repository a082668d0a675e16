/* task depend: in, out, inout order tasks by the addresses they name. */
#include <omp.h>

#include "expect.h"

enum { n = 40 };

int main(void) {
  int a = 0;
  int b = 0;
  int c = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : a) shared(a)
    a = 1;
#pragma omp task depend(in : a) depend(out : b) shared(a, b)
    b = a + 10;
#pragma omp task depend(in : a) depend(out : c) shared(a, c)
    c = a + 100;
#pragma omp task depend(in : b, c) depend(inout : a) shared(a, b, c)
    a = b * c;
#pragma omp taskwait
  }
  EXPECT(b == 11);
  EXPECT(c == 101);
  EXPECT(a == 1111);

  // A chain, and a wavefront over a table.
  long chain = 0;
  static int table[n][n];
#pragma omp parallel
#pragma omp single
  {
    for (int i = 1; i <= n; ++i) {
#pragma omp task depend(inout : chain) shared(chain) firstprivate(i)
      chain = chain * 3 % 1000003 + i;
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (i == 0 || j == 0) {
#pragma omp task depend(out : table[i][j]) firstprivate(i, j)
          table[i][j] = 1;
        } else {
#pragma omp task depend(in : table[i - 1][j], table[i][j - 1]) depend(out : table[i][j]) firstprivate(i, j)
          table[i][j] = (table[i - 1][j] + table[i][j - 1]) % 10007;
        }
      }
    }
  }
  long expected = 0;
  for (int i = 1; i <= n; ++i) expected = expected * 3 % 1000003 + i;
  EXPECT(chain == expected);
  static int sequential[n][n];
  int right = 1;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      sequential[i][j] = i == 0 || j == 0 ? 1 : (sequential[i - 1][j] + sequential[i][j - 1]) % 10007;
      right &= table[i][j] == sequential[i][j];
    }
  }
  EXPECT(right);

  int waited = 0;
#pragma omp parallel
#pragma omp single
  {
    int value = 0;
#pragma omp task depend(out : value) shared(value)
    value = 5;
#pragma omp taskwait depend(in : value)
    waited = value;
#pragma omp taskwait
  }
  EXPECT(waited == 5);
  return expect_status();
}
