/* For the programs of this folder: each exercises one part of OpenMP, checks its own results and ends with status 0
 * (all right) or 1 (a line on stderr for each expectation that failed). They run with any number of threads and under
 * any OpenMP run-time. EXPECT belongs in serial parts only, so that the programs rely on nothing but what they test. */
#ifndef SDSM_TESTS_NATIVE_PROGRAMS_EXPECT_H
#define SDSM_TESTS_NATIVE_PROGRAMS_EXPECT_H

#include <stdio.h>

static int expect_failures = 0;

static inline void expect(int holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++expect_failures;
  fprintf(stderr, "%s:%d: expected %s\n", file, line, what);
}

#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

/* What main returns. */
static inline int expect_status(void) {
  if (expect_failures == 0) puts("ok");
  return expect_failures == 0 ? 0 : 1;
}

#endif
