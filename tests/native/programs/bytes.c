/* Threads write neighbouring bytes and half-words without synchronisation: none may be lost, as C11 promises. */
#include <omp.h>

#include "expect.h"

enum { n = 9000 };
static unsigned char bytes[n];
static short halves[n];
static struct {
  char owner;
  int value;
} __attribute__((packed)) records[n / 5];

int main(void) {
  int right = 1;
  for (int round = 1; round <= 5; ++round) {
#pragma omp parallel
    {
#pragma omp for schedule(static, 1) nowait
      for (int i = 0; i < n; ++i) bytes[i] = (unsigned char)(i + round);
#pragma omp for schedule(static, 1) nowait
      for (int i = 0; i < n; ++i) halves[i] = (short)(i * round);
#pragma omp for schedule(static, 1)
      for (int i = 0; i < n / 5; ++i) {
        records[i].owner = (char)round;
        records[i].value = i * round;
      }
    }
    for (int i = 0; i < n; ++i) right &= bytes[i] == (unsigned char)(i + round) && halves[i] == (short)(i * round);
    for (int i = 0; i < n / 5; ++i) right &= records[i].owner == round && records[i].value == i * round;
  }
  EXPECT(right);
  return expect_status();
}
