/* reduction: every operator, several variables, in loops, sections and regions, complex numbers, nowait and barriers.
 */
#include <complex.h>
#include <limits.h>
#include <omp.h>

#include "expect.h"

enum { n = 1000 };
static int data[n];

static void in_loops(void) {
  for (int i = 0; i < n; ++i) data[i] = i * 37 % 501 - 250;
  int largest = INT_MIN;
  int smallest = INT_MAX;
  long sum = 0;
  long squares = 0;
  for (int i = 0; i < n; ++i) {
    largest = data[i] > largest ? data[i] : largest;
    smallest = data[i] < smallest ? data[i] : smallest;
    sum += data[i];
    squares += (long)data[i] * data[i];
  }

  long one = 5;  // a single variable: combined without a lock
#pragma omp parallel for reduction(+ : one)
  for (int i = 0; i < n; ++i) one += data[i];
  EXPECT(one == sum + 5);

  long a = 0;  // several: combined under the run-time's lock
  long b = 0;
  int high = INT_MIN;
  int low = INT_MAX;
#pragma omp parallel for reduction(+ : a, b) reduction(max : high) reduction(min : low) schedule(dynamic, 13)
  for (int i = 0; i < n; ++i) {
    a += data[i];
    b += (long)data[i] * data[i];
    high = data[i] > high ? data[i] : high;
    low = data[i] < low ? data[i] : low;
  }
  EXPECT(a == sum);
  EXPECT(b == squares);
  EXPECT(high == largest);
  EXPECT(low == smallest);
}

static void in_a_region(void) {
  unsigned all = ~0u;
  unsigned any = 0;
  unsigned parity = 0;
  int both = 1;
  int either = 0;
  int team = 0;
  double product = 1;
  long difference = 0;
#pragma omp parallel reduction(+ : team)
  {
    team += 1;
#pragma omp for reduction(& : all) reduction(| : any) reduction(^ : parity) nowait
    for (int i = 0; i < 32; ++i) {
      all &= ~(1u << (i / 2));
      any |= 1u << (i / 2 * 2);
      parity ^= 1u << (i % 5);
    }
#pragma omp for reduction(&& : both) reduction(|| : either)
    for (int i = 0; i < n; ++i) {
      both = both && data[i] >= -250;
      either = either || data[i] == 250;
    }
#pragma omp for reduction(* : product) reduction(- : difference)
    for (int i = 0; i < 40; ++i) {
      product *= i % 2 ? 2 : 0.5;
      difference -= i;
    }
    // Used right after the barrier of its loop, inside the region.
    if (difference != -780) {
#pragma omp atomic write
      either = 0;
    }
  }
  EXPECT(team >= 1);
  EXPECT(all == 0xffff0000u);
  EXPECT(any == 0x55555555u);
  EXPECT(parity == 0x3u);  // 0 and 1 come seven times each in 0..31 modulo 5, the others six times
  EXPECT(both == 1 && either == 1);
  EXPECT(product == 1);
  EXPECT(difference == -780);
}

static void of_complex_numbers(void) {
  double complex walk = 0;
  long double fine = 0;
  float coarse = 0;
#pragma omp parallel for reduction(+ : walk, fine, coarse)
  for (int i = 0; i < n; ++i) {
    walk += i + 2 * i * I;
    fine += 0.5L;
    coarse += 1;
  }
  EXPECT(creal(walk) == 499500 && cimag(walk) == 999000);
  EXPECT(fine == 500);
  EXPECT(coarse == 1000);

  double complex alone = 0;
#pragma omp parallel for reduction(+ : alone)
  for (int i = 0; i < n; ++i) alone += 1 - I;
  EXPECT(creal(alone) == 1000 && cimag(alone) == -1000);
}

static void again_and_again(void) {
  // The same reduction many times over: nothing of the last one may remain.
  int rounds_right = 1;
  for (int round = 0; round < 100; ++round) {
    int count = round;
#pragma omp parallel for reduction(+ : count)
    for (int i = 0; i < 64; ++i) ++count;
    rounds_right &= count == round + 64;
  }
  EXPECT(rounds_right);
}

int main(void) {
  in_loops();
  in_a_region();
  of_complex_numbers();
  again_and_again();
  return expect_status();
}
