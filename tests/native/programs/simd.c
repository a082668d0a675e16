/* simd, declare simd, declare variant, requires, allocate-free vector clauses, hints: all without a run-time, or
 * nearly. */
#include "expect.h"

#include <omp.h>

#pragma omp requires atomic_default_mem_order(seq_cst)

enum { n = 256 };
static float a[n], b[n];

#pragma omp declare simd uniform(factor) linear(i : 1) notinbranch
static float scaled(float factor, int i) {
  return factor * (float)i;
}

static inline int plain(void) {
  return 1;
}
#pragma omp declare variant(plain) match(construct = {parallel})
static int variant(void) {
  return 2;
}

int main(void) {
  float sum = 0;
  int last = 0, chosen = 0, counted = 0, added = 0, step = 0;
#pragma omp simd linear(step : 2) lastprivate(last) safelen(8) simdlen(4) if (simd : n > 4)
  for (int i = 0; i < n; ++i) {
    a[i] = scaled(2, i);
    last = i;
    step += 2;
  }
  EXPECT(last == n - 1 && step == 2 * n);
#pragma omp parallel for simd reduction(+ : sum) collapse(2) schedule(simd : static, 16)
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) sum += a[i * 16 + j];
  }
  EXPECT(sum == 2.0F * (n * (n - 1) / 2));
#pragma omp parallel
  {
#pragma omp master
    chosen = variant();
#pragma omp for ordered schedule(static, 8)
    for (int i = 0; i < n; ++i) {
#pragma omp ordered threads
      b[i] = i == 0 ? 1 : b[i - 1] + 1;
    }
#pragma omp for simd ordered
    for (int i = 0; i < n; ++i) {
#pragma omp ordered simd
      b[i] += 1;
    }
#pragma omp critical(named) hint(omp_sync_hint_contended | omp_sync_hint_nonspeculative)
    ++counted;
#pragma omp atomic hint(omp_sync_hint_uncontended)
    ++added;
#pragma omp flush acq_rel
  }
  EXPECT(chosen == 1 || chosen == 2);
  EXPECT(b[n - 1] == n + 1 && counted == omp_get_max_threads() && added == counted);
  return expect_status();
}
