/* cancel: where cancellation is off (the default) it does nothing; where it is on it ends the construct early. */
#include <omp.h>

#include "expect.h"

enum { n = 1000 };

int main(void) {
  static int visits[n];
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < n; ++i) {
#pragma omp cancellation point for
      ++visits[i];
#pragma omp cancel for if (i == 10)
    }
#pragma omp cancel parallel if (omp_get_thread_num() == 0)
  }
  int sections = 0;
#pragma omp parallel
  {
#pragma omp sections reduction(+ : sections)
    {
#pragma omp section
      {
        ++sections;
#pragma omp cancel sections if (n < 0)
      }
#pragma omp section
      ++sections;
    }
#pragma omp barrier
#pragma omp cancellation point parallel
#pragma omp cancel parallel if (n < 0)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp cancel taskgroup if (n < 0)
#pragma omp cancellation point taskgroup
        ++visits[10];
      }
    }
  }
  EXPECT(sections == 2 && visits[10] == 2);
  --visits[10];
  int done = 0;
  for (int i = 0; i < n; ++i) done += visits[i];
  EXPECT(visits[10] == 1);
  if (!omp_get_cancellation()) EXPECT(done == n);
  return expect_status();
}
