/* Teams of one thread between larger ones: barriers, single, copyprivate, loops and ordered regions wait for nobody. */
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
  return expect_status();
}
