/* ordered: the marked parts run in the order of the iterations, under each schedule. */
#include <limits.h>
#include <omp.h>

#include "expect.h"

enum { n = 300 };
static int sequence[n];
static int next;

static void record(int i) {
  sequence[next++] = i;
}

static int in_order(int step) {
  int right = next == n / step;
  for (int i = 0; i < next; ++i) right &= sequence[i] == i * step;
  next = 0;
  return right;
}

#define PRAGMA(text) _Pragma(#text)
/* The iterations first, first + 1, ... of a loop whose counter has this type. */
#define RECORD_EACH(type, first, schedule)     \
  do {                                         \
    PRAGMA(omp parallel for ordered schedule)  \
    for (type i = first; i < first + n; ++i) { \
      PRAGMA(omp ordered)                      \
      record((int)(i - first));                \
    }                                          \
    EXPECT(in_order(1));                       \
  } while (0)

static void under_each_schedule(void) {
  RECORD_EACH(int, 0, schedule(static));
  RECORD_EACH(int, 0, schedule(static, 4));
  RECORD_EACH(int, 0, schedule(dynamic));
  RECORD_EACH(int, 0, schedule(guided));

#pragma omp parallel
  {
#pragma omp for ordered schedule(dynamic, 7)
    for (int i = 0; i < n; ++i) {
      // Two of three iterations have no ordered part, and a chunk may have none at all.
      if (i % 3 == 0) {
#pragma omp ordered
        record(i);
      }
    }
  }
  EXPECT(in_order(3));

  const omp_sched_t schedules[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
  for (int s = 0; s < 3; ++s) {
    omp_set_schedule(schedules[s], 3);
    RECORD_EACH(int, 0, schedule(runtime));
  }
}

static void far_above(void) {
  // Far above what a signed counter holds.
  const unsigned long long base = ULLONG_MAX - 5000;
  RECORD_EACH(unsigned long long, base, schedule(static, 5));
  RECORD_EACH(unsigned long long, base, schedule(dynamic, 2));
  RECORD_EACH(unsigned long long, base, schedule(guided));
  RECORD_EACH(unsigned long long, base, schedule(runtime));
}

static void with_a_late_first(void) {
  // Every second iteration leaves the ordered region out, and the first is late: nobody goes before it all the same.
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < 40; ++i) {
    if (i == 0) {
      for (volatile int turn = 0; turn < 2000000; turn = turn + 1) {
      }
    }
    if (i % 2 == 0) {
#pragma omp ordered
      record(i);
    }
  }
  EXPECT(next == 20);
  for (int i = 0; i < next; ++i) EXPECT(sequence[i] == 2 * i);
  next = 0;
}

static void handing_on(void) {
  // A value handed from one iteration to the next, in shared memory.
  long chain = 0;
#pragma omp parallel for ordered schedule(static, 1) shared(chain)
  for (int i = 1; i <= 40; ++i) {
#pragma omp ordered
    chain = chain * 3 % 1000003 + i;
  }
  long expected = 0;
  for (int i = 1; i <= 40; ++i) expected = expected * 3 % 1000003 + i;
  EXPECT(chain == expected);
}

int main(void) {
  under_each_schedule();
  far_above();
  with_a_late_first();
  handing_on();
  return expect_status();
}
