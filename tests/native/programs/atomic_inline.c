/* atomic on types that the processor handles by itself: the compiler makes no call of the run-time. */
#include <omp.h>

#include "expect.h"

enum { rounds = 1000 };

int main(void) {
  int team = 1;
  int sum = 0;
  long product_of_signs = 1;
  unsigned bits = 0;
  double real = 0;
  float small = 0;
  unsigned char byte = 0;
  int tickets = 0;
  int largest_ticket = -1;
  long ticket_sum = 0;
  int flag = 0;
#pragma omp parallel
  {
#pragma omp master
    team = omp_get_num_threads();
    for (int i = 0; i < rounds; ++i) {
#pragma omp atomic
      ++sum;
#pragma omp atomic update
      product_of_signs *= -1;
#pragma omp atomic
      bits |= 1u << (i % 20);
#pragma omp atomic
      real += 0.5;
#pragma omp atomic
      small += 1;
#pragma omp atomic
      ++byte;
      int ticket;
#pragma omp atomic capture
      ticket = tickets++;
#pragma omp critical
      {
        ticket_sum += ticket;
        if (ticket > largest_ticket) largest_ticket = ticket;
      }
    }
#pragma omp atomic write
    flag = 7;
    int read_back;
#pragma omp atomic read
    read_back = flag;
#pragma omp critical
    if (read_back != 7) flag = -1;
  }
  const long steps = (long)team * rounds;
  EXPECT(sum == steps);
  EXPECT(product_of_signs == (steps % 2 == 0 ? 1 : -1));
  EXPECT(bits == (1u << 20) - 1);
  EXPECT(real == 0.5 * (double)steps);
  EXPECT(small == (float)steps);
  EXPECT(byte == (unsigned char)steps);
  EXPECT(tickets == steps);
  EXPECT(largest_ticket == steps - 1);
  EXPECT(ticket_sum == steps * (steps - 1) / 2);
  EXPECT(flag == 7);
  return expect_status();
}
