/* omp_lock_t: exclusion, test_lock, many locks, a lock given to others by the heap. */
#include <omp.h>
#include <stdlib.h>

#include "expect.h"

enum { rounds = 200, accounts = 16 };

struct account {
  omp_lock_t lock;
  long balance;
};

static void exclude_and_refuse(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  int team = 1;
  int count = 0;
  int inside = 0;
  int overlaps = 0;
#pragma omp parallel
  {
#pragma omp master
    team = omp_get_num_threads();
    for (int i = 0; i < rounds; ++i) {
      omp_set_lock(&lock);
      if (++inside != 1) ++overlaps;
      ++count;
      --inside;
      omp_unset_lock(&lock);
    }
  }
  EXPECT(overlaps == 0);
  EXPECT(count == rounds * team);

  // A held lock refuses, a free one does not.
  int refused = 0;
  int taken = 0;
  omp_set_lock(&lock);
#pragma omp parallel
  {
    if (!omp_test_lock(&lock)) {
#pragma omp critical
      ++refused;
    }
  }
  omp_unset_lock(&lock);
#pragma omp parallel
  {
    while (!omp_test_lock(&lock)) {
    }
    ++taken;
    omp_unset_lock(&lock);
  }
  EXPECT(refused == team);
  EXPECT(taken == team);
  omp_destroy_lock(&lock);
}

static void move_money(void) {
  // Money moves between accounts, each with its lock; the sum stays.
  struct account* bank = malloc(accounts * sizeof *bank);
  EXPECT(bank != NULL);
  if (!bank) return;
  for (int a = 0; a < accounts; ++a) {
    omp_init_lock(&bank[a].lock);
    bank[a].balance = 1000;
  }
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < 1000; ++i) {
    const int from = i * 7 % accounts;
    const int to = (from + 1 + i % (accounts - 1)) % accounts;
    const int first = from < to ? from : to;  // always in this order, so that no two threads wait for one another
    const int second = from < to ? to : from;
    omp_set_lock(&bank[first].lock);
    omp_set_lock(&bank[second].lock);
    bank[from].balance -= i;
    bank[to].balance += i;
    omp_unset_lock(&bank[second].lock);
    omp_unset_lock(&bank[first].lock);
  }
  long expected[accounts];
  for (int a = 0; a < accounts; ++a) expected[a] = 1000;
  for (int i = 0; i < 1000; ++i) {
    const int from = i * 7 % accounts;
    expected[from] -= i;
    expected[(from + 1 + i % (accounts - 1)) % accounts] += i;
  }
  int right = 1;
  for (int a = 0; a < accounts; ++a) {
    right &= bank[a].balance == expected[a];
    omp_destroy_lock(&bank[a].lock);
  }
  EXPECT(right);
  free(bank);
}

int main(void) {
  exclude_and_refuse();
  move_money();
  return expect_status();
}
