/* teams on the host, distribute, and the league's routines. */
#include "expect.h"

#include <omp.h>
#include <string.h>

enum { n = 240 };
static int count[n];

static int is_all(int value) {
  int right = 1;
  for (int i = 0; i < n; ++i) right &= count[i] == value;
  memset(count, 0, sizeof count);
  return right;
}

int main(void) {
  int league = 0, numbers = 0, sum = 0, largest = 0;
#pragma omp teams num_teams(3) thread_limit(2) reduction(+ : numbers)
  {
    numbers += omp_get_team_num();
    if (omp_get_team_num() == 0) league = omp_get_num_teams();
#pragma omp parallel
    {
#pragma omp critical
      if (omp_get_num_threads() > largest) largest = omp_get_num_threads();
    }
  }
  EXPECT(league >= 1 && league <= 3);
  EXPECT(numbers == league * (league - 1) / 2);
  EXPECT(largest >= 1 && largest <= 2);
  EXPECT(omp_get_num_teams() == 1 && omp_get_team_num() == 0);
  EXPECT(omp_get_max_teams() >= 0 && omp_get_teams_thread_limit() >= 0);
  omp_set_num_teams(4);
  omp_set_teams_thread_limit(2);

#pragma omp teams distribute
  for (int i = 0; i < n; ++i) ++count[i];
  EXPECT(is_all(1));
#pragma omp teams num_teams(2)
  {
#pragma omp distribute dist_schedule(static, 7)
    for (int i = 0; i < n; ++i) ++count[i];
#pragma omp distribute parallel for
    for (int i = 0; i < n; ++i) ++count[i];
#pragma omp distribute parallel for simd schedule(static, 3)
    for (int i = 0; i < n; ++i) ++count[i];
#pragma omp distribute simd collapse(2)
    for (int i = 0; i < n / 8; ++i) {
      for (int j = 0; j < 8; ++j) ++count[i * 8 + j];
    }
  }
  EXPECT(is_all(4));
#pragma omp teams distribute parallel for reduction(+ : sum) lastprivate(largest)
  for (int i = 0; i < n; ++i) {
    sum += i;
    largest = i;
  }
  EXPECT(sum == n * (n - 1) / 2 && largest == n - 1);
#pragma omp teams distribute parallel for simd
  for (int i = 0; i < n; ++i) ++count[i];
#pragma omp teams loop
  for (int i = 0; i < n; ++i) ++count[i];
  EXPECT(is_all(2));
  return expect_status();
}
