/* Threadprivate data of many pages, copied in. */
#include "expect.h"

#include <omp.h>

enum { bytes = 3 << 20 };
static char large[bytes];
static __thread int also[20000];
static int last;
#pragma omp threadprivate(large)

int main(void) {
  int wrong = 0, kept = 0;
  for (int i = 0; i < bytes; ++i) large[i] = (char)(i % 101);
  also[19999] = 4;
#pragma omp parallel copyin(large) reduction(+ : wrong, kept)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < bytes; i += 997) wrong += large[i] != (char)(i % 101);
    large[bytes - 1] = (char)me;
    also[me] = me + 1;
#pragma omp barrier
    wrong += large[bytes - 1] != (char)me || also[me] != me + 1;
    kept += also[19999];
    if (me == omp_get_num_threads() - 1) last = me;
  }
  EXPECT(wrong == 0 && kept == 4);
#pragma omp parallel reduction(+ : wrong)
  wrong += large[bytes - 1] != (char)omp_get_thread_num() || large[7] != 7;
  EXPECT(wrong == 0 && last == omp_get_max_threads() - 1);
  return expect_status();
}
