/* Pointers to nested functions: gcc puts their code on the stack of the function around them, where other threads find
 * it. */
#include <omp.h>

#include "expect.h"

enum { count = 4000 };

typedef void (*Use)(int);

__attribute__((noinline)) static void each(Use use, int begin, int end) {
  for (int i = begin; i < end; ++i) use(i);
}

static int called_by_members(int factor) {
  int values[count];
  void store(int i) {
    values[i] = factor * i;
  }
  /* The initial thread's function, called by all. */
#pragma omp parallel for
  for (int part = 0; part < 40; ++part) each(store, part * (count / 40), (part + 1) * (count / 40));
  int right = 0;
  for (int i = 0; i < count; ++i) right += values[i] == factor * i;
  return right;
}

__attribute__((noinline)) static long own_sum(void) {
  long own = 0;
  void add(int i) {
    own += i;
  }
  /* The others' code lies on their own stacks. */
  for (int round = 0; round < 3; ++round) {
    each(add, 0, 100);
#pragma omp barrier
  }
  return own;
}

static long sum_of_members(void) {
  long total = 0;
#pragma omp parallel reduction(+ : total)
  total += own_sum();
  return total;
}

int main(void) {
  for (int factor = 2; factor < 5; ++factor) EXPECT(called_by_members(factor) == count);
  EXPECT(sum_of_members() == 3 * 4950L * omp_get_max_threads());
  return expect_status();
}
