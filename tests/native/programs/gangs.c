/* Gangs (sdsm/divide.h): numbers, barriers and loops of parts of the team, by block and round robin, nested. */
#include <omp.h>
#include <sdsm/divide.h>

#include "expect.h"

enum { most_threads = 64, cells = 3000, rounds = 12 };

static int gang_of[most_threads], number_of[most_threads], size_of[most_threads], inner_of[most_threads];
static int field[2][most_threads][cells];
static long sums[most_threads];

/* Each thread writes its row from its right neighbour's in the gang, `rounds` times. */
static void pass_rows(int me, const int* members) {
  const int mine = sdsm_get_thread_num();
  const int right = members[(mine + 1) % sdsm_get_num_threads()];
  for (int round = 0; round < rounds; ++round) {
    const int from = round % 2;
    for (int i = 0; i < cells; ++i) field[1 - from][me][i] = field[from][right][i] + me + i % 7;
    sdsm_gang_barrier();
  }
}

static int expected_row(int gang, int threads, const int* gangs) {
  /* The same, by one thread. */
  static int row[2][most_threads];
  int members[most_threads], size = 0;
  for (int t = 0; t < threads; ++t) {
    if (gangs[t] == gang) members[size++] = t;
  }
  for (int t = 0; t < threads; ++t) row[0][t] = t;
  for (int round = 0; round < rounds; ++round) {
    for (int m = 0; m < size; ++m)
      row[1 - round % 2][members[m]] = row[round % 2][members[(m + 1) % size]] + members[m];
  }
  int right = 1;
  for (int m = 0; m < size; ++m) {
    for (int i = 0; i < cells; ++i) {
      right &= field[rounds % 2][members[m]][i] == row[rounds % 2][members[m]] + rounds * (i % 7);
    }
  }
  return right;
}

static void check_partition(enum sdsm_partition partition, int gangs, int unit) {
  int threads = 1;
  int wrong = 0;
#pragma omp parallel num_threads(omp_get_max_threads() < most_threads ? omp_get_max_threads() : most_threads)
  {
    const int me = omp_get_thread_num();
    const int team = omp_get_num_threads();
#pragma omp master
    threads = team;
    for (int i = 0; i < cells; ++i) field[0][me][i] = me;
#pragma omp barrier
    int is_right = sdsm_get_num_gangs() == 1 && sdsm_get_gang_num() == 0 && sdsm_get_thread_num() == me &&
                   sdsm_get_num_threads() == team;
    SDSM_DIVIDE(partition, gangs, unit) {
      const int gang = sdsm_get_gang_num();
      gang_of[me] = gang;
      number_of[me] = sdsm_get_thread_num();
      size_of[me] = sdsm_get_num_threads();
      is_right &= sdsm_get_num_gangs() == gangs;
      struct sdsm_division division = {partition, gangs, unit, team};
      int members[most_threads];
      for (int m = 0; m < sdsm_get_num_threads(); ++m) members[m] = sdsm_thread_of(&division, gang, m);
      is_right &= members[sdsm_get_thread_num()] == me;
      pass_rows(me, members);

      /* A loop of the gang: every iteration once. */
      long sum = 0;
      const struct sdsm_rows rows = sdsm_for_begin(10, 110);
      for (long i = rows.begin; i < rows.end; ++i) sum += i;
      sums[me] = sum;
      sdsm_for_end();
      long all = 0;
      for (int m = 0; m < sdsm_get_num_threads(); ++m) all += sums[members[m]];
      is_right &= all == (10 + 109) * 100 / 2;

      /* Halves of the gang, and halves of these. */
      if (sdsm_get_num_threads() > 1) {
        SDSM_DIVIDE(sdsm_by_block, 2, 1) {
          inner_of[me] = sdsm_get_num_threads();
          sdsm_gang_barrier();
          if (sdsm_get_num_threads() > 1) {
            SDSM_DIVIDE(sdsm_by_round_robin, 2, 1) {
              sdsm_gang_barrier();
            }
          }
          int inner = 0;
          for (int m = 0; m < sdsm_get_num_threads(); ++m) ++inner;
          is_right &= inner == inner_of[me];
        }
      }
      /* A nested region is a team of its own. */
#pragma omp parallel num_threads(1)
      is_right &= sdsm_get_num_threads() == 1 && sdsm_get_num_gangs() == 1;
    }
    is_right &= sdsm_get_num_gangs() == 1 && sdsm_get_num_threads() == team;
#pragma omp critical
    wrong += !is_right;
  }
  EXPECT(!wrong);
  int members = 0;
  for (int g = 0; g < gangs; ++g) {
    int size = 0;
    for (int t = 0; t < threads; ++t) {
      if (gang_of[t] != g) continue;
      EXPECT(number_of[t] == size);
      ++size;
    }
    for (int t = 0; t < threads; ++t) EXPECT(gang_of[t] != g || size_of[t] == size);
    EXPECT(size > 0);
    EXPECT(expected_row(g, threads, gang_of));
    members += size;
  }
  EXPECT(members == threads);
}

int main(void) {
  const int threads = omp_get_max_threads();
  for (int gangs = 1; gangs <= threads && gangs <= 4; ++gangs) {
    check_partition(sdsm_by_block, gangs, 1);
    check_partition(sdsm_by_round_robin, gangs, 1);
    if (2 * gangs <= threads) check_partition(sdsm_by_block, gangs, 2);
    if (2 * gangs <= threads) check_partition(sdsm_by_round_robin, gangs, 2);
  }
  /* Gangs come and go at different speeds. */
  int late = 0;
#pragma omp parallel
  for (int round = 0; round < 30; ++round) {
    SDSM_DIVIDE(sdsm_by_block, sdsm_get_num_threads() > 1 ? 2 : 1, 1) {
      if (round % 3 == 0) continue; /* leaves the block at once */
      for (int i = 0; i < (sdsm_get_gang_num() == 0 ? 1 : 5); ++i) sdsm_gang_barrier();
    }
#pragma omp single
    ++late;
  }
  EXPECT(late == 30);
  /* Outside of regions there is one thread. */
  SDSM_DIVIDE(sdsm_by_block, 1, 1) {
    sdsm_gang_barrier();
    EXPECT(sdsm_get_num_threads() == 1 && sdsm_get_num_gangs() == 1);
  }
  return expect_status();
}
