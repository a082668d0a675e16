/* Tasks with a detach clause are complete when their event is fulfilled, by whomever. */
#include "expect.h"

#include <omp.h>

static int x, y, z, order[8], ordered;

/* What depends on a detached task waits for its event, which the generating thread fulfils later. */
static void dependences(void) {
  omp_event_handle_t event;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task detach(event) depend(out : x)
    x = 1;
#pragma omp task depend(in : x) depend(out : y)
    {
      y = x + z;
      order[ordered++] = 2;
    }
#pragma omp task depend(in : y)
    order[ordered++] = 3;
#pragma omp task depend(in : z)
    order[ordered++] = 1;
    z = 10;
    omp_fulfill_event(event);
#pragma omp taskwait
    order[ordered++] = 4;
  }
  EXPECT(x == 1 && y == 11);
  EXPECT(ordered == 4 && order[0] == 1 && order[1] == 2 && order[2] == 3 && order[3] == 4);
}

/* Its own body fulfils it, or an if clause makes it one that is waited for, or a taskgroup does. */
static void at_once(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event)
    {
      ++done;
      omp_fulfill_event(event);
    }
#pragma omp taskwait
#pragma omp task detach(event) if (0)
    {
      ++done;
      omp_fulfill_event(event);
    }
#pragma omp taskgroup
    {
#pragma omp task detach(event) depend(inout : done)
      ++done;
#pragma omp task depend(inout : done)
      ++done;
      omp_fulfill_event(event);
    }
    if (done != 4) done = -100;
#pragma omp taskwait depend(in : done)
  }
  EXPECT(done == 4);
}

/* The last thread fulfils it: what that has written is seen behind the wait. */
static void by_another(void) {
  static omp_event_handle_t event;
  static int written, seen, started;
  int right = 1;
  for (int round = 1; round <= 20; ++round) {
#pragma omp parallel reduction(&& : right)
    {
      const int last = omp_get_num_threads() - 1;
#pragma omp for ordered schedule(static, 1) nowait
      for (int i = 0; i <= last; ++i) {
#pragma omp ordered
        {
          if (i == 0) {
            omp_event_handle_t own;
#pragma omp task detach(own) depend(out : started)
            started = round;
            event = own;
          }
          if (i == last) {
            written = round;
            omp_fulfill_event(event);
          }
        }
      }
#pragma omp master
      {
#pragma omp task depend(in : started)
        seen = written;
#pragma omp taskwait
        right = right && seen == round;
      }
    }
  }
  EXPECT(right);
}

int main(void) {
  dependences();
  at_once();
  by_another();
  return expect_status();
}
