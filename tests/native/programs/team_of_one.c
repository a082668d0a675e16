/* Teams of one thread between larger ones: barriers, single, copyprivate, loops and ordered regions wait for nobody.
   Teams of one around others: a loop, ordered or not, goes on where it was before a region inside of it had loops. */
#include <omp.h>

#include "expect.h"

enum { rounds = 20, entries = 3000 };

static int shared_array[entries];

static void region_of(int wanted, int round, int* members, int* executed, int* copied) {
#pragma omp parallel num_threads(wanted)
  {
    int value = 0;
#pragma omp critical
    ++*members;
#pragma omp barrier
#pragma omp single
    ++*executed;
#pragma omp for schedule(dynamic, 100)
    for (int i = 0; i < entries; ++i) shared_array[i] += round + i;
#pragma omp single copyprivate(value)
    value = shared_array[entries - 1];
#pragma omp critical
    *copied += value == shared_array[entries - 1];
#pragma omp barrier
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 10; ++i) {
#pragma omp ordered
      shared_array[i] = (shared_array[i] * 3 + i) % 100000;
    }
  }
}

enum { outer = 12, inner = 7 };

static int loops_met[outer][inner], outer_order[outer], inner_order[outer * inner], crossed[outer];

static void regions_in_loops(void) {
#pragma omp parallel for num_threads(1) schedule(dynamic)
  for (int i = 0; i < outer; ++i) {
#pragma omp parallel for schedule(guided)
    for (int j = 0; j < inner; ++j) ++loops_met[i][j];
  }
  int inner_count = 0, outer_count = 0;
#pragma omp parallel for num_threads(1) schedule(dynamic) ordered
  for (int i = 0; i < outer; ++i) {
#pragma omp parallel for schedule(dynamic) ordered
    for (int j = 0; j < inner; ++j) {
#pragma omp ordered
      inner_order[inner_count++] = i * inner + j;
    }
#pragma omp ordered
    outer_order[outer_count++] = i;
  }
#pragma omp parallel for num_threads(1) ordered(1)
  for (int i = 0; i < outer; ++i) {
#pragma omp ordered depend(sink : i - 1)
#pragma omp parallel for ordered(1)
    for (int j = 0; j < inner; ++j) {
#pragma omp ordered depend(sink : j - 1)
      ++crossed[i];
#pragma omp ordered depend(source)
    }
#pragma omp ordered depend(source)
  }
}

/* Sections in a team of one, if the run has but one thread; the regions inside of them halve the range again. */
static int sum_by_halves(int first, int behind) {
  if (behind - first == 1) return first;
  int lower = 0, upper = 0;
#pragma omp parallel sections shared(lower, upper)
  {
#pragma omp section
    lower = sum_by_halves(first, (first + behind) / 2);
#pragma omp section
    upper = sum_by_halves((first + behind) / 2, behind);
  }
  return lower + upper;
}

int main(void) {
  static int expected[entries];
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    const int team = round % 2 == 0 ? omp_get_max_threads() : 1;
    int members = 0;
    int executed = 0;
    int copied = 0;
    region_of(team, round, &members, &executed, &copied);
    for (int i = 0; i < entries; ++i) expected[i] += round + i;
    for (int i = 0; i < 10; ++i) expected[i] = (expected[i] * 3 + i) % 100000;
    for (int i = 0; i < entries; ++i) wrong += shared_array[i] != expected[i];
    wrong += members != team || executed != 1 || copied != team;
  }
  EXPECT(wrong == 0);
  regions_in_loops();
  for (int i = 0; i < outer; ++i) {
    wrong += outer_order[i] != i || crossed[i] != inner;
    for (int j = 0; j < inner; ++j) wrong += loops_met[i][j] != 1 || inner_order[i * inner + j] != i * inner + j;
  }
  EXPECT(wrong == 0);
  EXPECT(sum_by_halves(0, 40) == 780);
  return expect_status();
}
