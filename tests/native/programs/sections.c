/* sections: each once, in parallel and orphaned, more than threads and fewer, nowait, lastprivate. */
#include <omp.h>

#include "expect.h"

static int ran[32];

static void orphaned(void) {
#pragma omp sections
  {
#pragma omp section
    ++ran[10];
#pragma omp section
    ++ran[11];
  }
}

int main(void) {
#pragma omp parallel sections
  {
    ++ran[0];  // the first needs no directive of its own
#pragma omp section
    ++ran[1];
#pragma omp section
    ++ran[2];
  }
  int last = 0;
  int early = 0;
#pragma omp parallel
  {
#pragma omp sections lastprivate(last)
    {
#pragma omp section
      last = ++ran[3];
#pragma omp section
      last = 50 + ++ran[4];
    }
    if (last != 51) {  // after the barrier at the end of `sections` all see it
#pragma omp critical
      early = 1;
    }
#pragma omp sections nowait
    {
#pragma omp section
      ++ran[5];
#pragma omp section
      ++ran[6];
#pragma omp section
      ++ran[7];
#pragma omp section
      ++ran[8];
#pragma omp section
      ++ran[9];
    }
    orphaned();
    for (int i = 0; i < 20; ++i) {
#pragma omp sections
      {
#pragma omp section
        ++ran[12];
#pragma omp section
        ++ran[13];
      }
    }
  }
  for (int i = 0; i <= 11; ++i) EXPECT(ran[i] == 1);
  EXPECT(ran[12] == 20 && ran[13] == 20);
  EXPECT(last == 51);
  EXPECT(!early);

  int sum = 0;
  int seed = 5;
#pragma omp parallel sections reduction(+ : sum) firstprivate(seed) num_threads(2)
  {
#pragma omp section
    sum += seed;
#pragma omp section
    sum += 2 * seed;
#pragma omp section
    sum += 3 * seed;
  }
  EXPECT(sum == 30);
  return expect_status();
}
