/* atomic on types too large for one instruction: the compiler asks the run-time for a lock (GOMP_atomic_start). */
#include <omp.h>

#include "expect.h"

enum { rounds = 500 };

int main(void) {
  int team = 1;
  long double sum = 0;
  long double tickets = 0;
  long double ticket_sum = 0;
#pragma omp parallel
  {
#pragma omp master
    team = omp_get_num_threads();
    for (int i = 0; i < rounds; ++i) {
#pragma omp atomic
      sum += 0.25L;
      long double ticket;
#pragma omp atomic capture
      {
        ticket = tickets;
        tickets += 1;
      }
#pragma omp critical
      ticket_sum += ticket;
    }
  }
  const long double steps = (long double)team * rounds;
  EXPECT(sum == steps / 4);
  EXPECT(tickets == steps);
  EXPECT(ticket_sum == steps * (steps - 1) / 2);
  return expect_status();
}
