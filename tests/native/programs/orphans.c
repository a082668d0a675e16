/* Work-sharing in functions called from a region, from outside of one, and again from nested calls. */
#include <omp.h>

#include "expect.h"

enum { n = 1200 };
static int visits[n];
static int singles;
static int sum;

static void static_loop(void) {
#pragma omp for
  for (int i = 0; i < n; ++i) ++visits[i];
}

static void dynamic_loop(void) {
#pragma omp for schedule(dynamic, 11)
  for (int i = 0; i < n; ++i) ++visits[i];
}

static void everything(void) {
  static_loop();
  dynamic_loop();
#pragma omp single
  ++singles;
#pragma omp sections
  {
#pragma omp section
    ++visits[0];
#pragma omp section
    ++visits[1];
  }
#pragma omp for reduction(+ : sum)
  for (int i = 0; i < 10; ++i) sum += i;
#pragma omp barrier
#pragma omp master
  ++visits[2];
#pragma omp critical
  {}
}

static int all_right(int times) {
  int right = singles == times && sum == 45 * times;
  for (int i = 0; i < n; ++i) right &= visits[i] == 2 * times + (i < 3 ? times : 0);
  return right;
}

int main(void) {
  everything();  // outside of a region the team is the initial thread
  EXPECT(all_right(1));
#pragma omp parallel
  everything();
  EXPECT(all_right(2));
#pragma omp parallel num_threads(3)
  {
    everything();
#pragma omp barrier
    everything();
  }
  EXPECT(all_right(4));
  return expect_status();
}
