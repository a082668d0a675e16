/* barrier and flush: a value travels around the team, one step per barrier; neighbours exchange pages. */
#include <omp.h>

#include "expect.h"

enum { rounds = 200, words = 1500, most_threads = 64 };
static int relay[most_threads];
static int field[2][most_threads][words];

int main(void) {
  int team = 1;
  int wrong = 0;
#pragma omp parallel num_threads(omp_get_max_threads() < most_threads ? omp_get_max_threads() : most_threads)
  {
    const int me = omp_get_thread_num();
    const int size = omp_get_num_threads();
#pragma omp master
    team = size;
    for (int round = 0; round < rounds; ++round) {
      if (round % size == me) relay[(me + 1) % size] = relay[me] + 1;
#pragma omp barrier
    }
    // Everyone writes its row from its neighbours' rows of the round before.
    for (int round = 0; round < 20; ++round) {
      const int from = round % 2;
      for (int i = 0; i < words; ++i) {
        field[1 - from][me][i] =
            (field[from][(me + 1) % size][i] + field[from][(me + size - 1) % size][i] + me + i) % 10007;
      }
#pragma omp barrier
    }
    int local = me;
#pragma omp flush
#pragma omp flush(local)
    if (local != me) wrong = 1;
  }
  EXPECT(relay[rounds % team] == rounds);
  EXPECT(!wrong);

  static int expected[2][most_threads][words];
  for (int round = 0; round < 20; ++round) {
    const int from = round % 2;
    for (int t = 0; t < team; ++t) {
      for (int i = 0; i < words; ++i) {
        expected[1 - from][t][i] =
            (expected[from][(t + 1) % team][i] + expected[from][(t + team - 1) % team][i] + t + i) % 10007;
      }
    }
  }
  int right = 1;
  for (int t = 0; t < team; ++t) {
    for (int i = 0; i < words; ++i) right &= field[0][t][i] == expected[0][t][i];
  }
  EXPECT(right);
  return expect_status();
}
