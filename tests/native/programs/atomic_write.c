/* omp atomic write of one variable by several threads: afterwards it has one of the values stored, whatever it had
 * before. */
#include <omp.h>

#include "expect.h"

static signed char byte_found;
static short short_found;
static int found;
static long long long_found;
static int which;

/* Member 0 and the others store at their own pace: the home of globals is a writer in some rounds and not in others. */
static void store_equal(int writers_begin) {
#pragma omp parallel
  if (omp_get_thread_num() >= writers_begin || omp_get_num_threads() == 1) {
#pragma omp atomic write
    byte_found = 1;
#pragma omp atomic write
    short_found = 0x0102;
#pragma omp atomic write
    found = 1;
#pragma omp atomic write
    long_found = 0x0001000200030004LL;
  }
}

static void store_own(int writers_begin) {
#pragma omp parallel
  if (omp_get_thread_num() >= writers_begin || omp_get_num_threads() == 1) {
#pragma omp atomic write
    which = 250 * omp_get_thread_num() + 101;
  }
}

int main(void) {
  const int before[] = {0, -1, 0x1234567};
  for (int round = 0; round < 30; ++round) {
    const int old = before[round % 3];
    byte_found = (signed char)old;
    short_found = (short)old;
    found = old;
    long_found = old;
    store_equal(round % 2);
    EXPECT(byte_found == 1);
    EXPECT(short_found == 0x0102);
    EXPECT(found == 1);
    EXPECT(long_found == 0x0001000200030004LL);
    which = -1;
    store_own(round % 2);
    EXPECT(which % 250 == 101);
  }
  return expect_status();
}
