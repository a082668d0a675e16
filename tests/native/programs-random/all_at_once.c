/* Usage: all_at_once KIB. Each thread fills its part of an array, most of whose pages are at home with others: at the
 * barriers all send each other more than connections hold. Prints "right" and ends with status 0, or "wrong" and 1. */
#include <stdio.h>
#include <stdlib.h>

#include "sdsm/placement.h"

int main(int argc, char** argv) {
  const long count = (argc > 1 ? atol(argv[1]) : 4096) * 1024 / (long)sizeof(double);
  double* numbers = sdsm_galloc(count * sizeof(double), sdsm_round_robin);
  int wrong = 0;
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; ++i) numbers[i] = (double)i * 0.5 + round;
  }
  for (long i = 0; i < count; ++i) wrong += numbers[i] != (double)i * 0.5 + 2;
  puts(wrong == 0 ? "right" : "wrong");
  return wrong != 0;
}
