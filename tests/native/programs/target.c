/* target regions: without a device they run on the host. */
#include "expect.h"

#include <errno.h>
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { n = 1000 };
static int array[n];
#pragma omp declare target
static int of_device = 5;
static int twice(int value) {
  return 2 * value;
}
#pragma omp end declare target

static void regions(void) {
  int sum = 0, own = 7, host = 0, level = -1, device = 0;
  double aligned = 2.5;
  char small = 3;
#pragma omp target map(tofrom : array, host, level) firstprivate(own, aligned, small)
  {
    host = omp_is_initial_device();
    level = omp_get_level() + omp_in_parallel();
    own += (int)(aligned * small);
    for (int i = 0; i < n; ++i) array[i] = i + own;
  }
  EXPECT(host == 1 && level == 0 && own == 7);
  EXPECT(array[0] == 14 && array[n - 1] == n + 13);
#pragma omp target parallel for reduction(+ : sum) map(tofrom : sum) device(device)
  for (int i = 0; i < n; ++i) sum += twice(array[i]);
  EXPECT(sum == n * (n - 1) + 28 * n);
#pragma omp target if (0) map(tofrom : sum)
  sum = of_device;
  EXPECT(sum == 5);
#pragma omp target nowait depend(out : sum) map(tofrom : sum)
  sum = 6;
#pragma omp target depend(inout : sum) map(tofrom : sum)
  ++sum;
#pragma omp taskwait
  EXPECT(sum == 7);
}

static void data(void) {
  int* const block = malloc(n * sizeof *block);
  memset(block, 0, n * sizeof *block);
#pragma omp target data map(tofrom : block[:n]) use_device_ptr(block)
  {
#pragma omp target is_device_ptr(block)
    for (int i = 0; i < n; ++i) block[i] = i;
  }
#pragma omp target enter data map(to : block[:n])
#pragma omp target update to(block[:n])
#pragma omp target map(block[:n])
  block[3] = 33;
#pragma omp target update from(block[:n])
#pragma omp target exit data map(from : block[:n])
  EXPECT(block[2] == 2 && block[3] == 33);
  free(block);
}

static void teams(void) {
  static int count[64];
  int counted = 0, most = 0, sum = 0;
#pragma omp target teams num_teams(4) thread_limit(2) map(tofrom : count, counted, most)
  {
    const int team = omp_get_team_num();
    if (team == 0) counted = omp_get_num_teams();
#pragma omp parallel
    {
#pragma omp critical
      {
        ++count[team];
        if (omp_get_num_threads() > most) most = omp_get_num_threads();
      }
    }
  }
  EXPECT(counted >= 1 && counted <= 4);
  EXPECT(most >= 1 && most <= 2);
  for (int team = 0; team < counted; ++team) EXPECT(count[team] >= 1 && count[team] <= 2);
  memset(array, 0, sizeof array);
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum) map(from : array)
  for (int i = 0; i < n; ++i) {
    array[i] = i;
    sum += i;
  }
  EXPECT(sum == n * (n - 1) / 2 && array[n - 1] == n - 1);
#pragma omp target teams distribute dist_schedule(static, 8) num_teams(3)
  for (int i = 0; i < n; ++i) ++array[i];
  EXPECT(array[0] == 1 && array[n - 1] == n);
#pragma omp target simd map(tofrom : array)
  for (int i = 0; i < n; ++i) --array[i];
  EXPECT(array[0] == 0 && array[n - 1] == n - 1);
#pragma omp target teams loop map(tofrom : array)
  for (int i = 0; i < n; ++i) ++array[i];
  EXPECT(array[0] == 1 && array[n - 1] == n);
}

/* Each thread of a team offloads: to itself. */
static void from_threads(void) {
  static int seen[64];
  const int threads = omp_get_max_threads();
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    int number = -1, size = 0;
#pragma omp target map(tofrom : number, size) firstprivate(me)
    {
      number = omp_get_thread_num();
#pragma omp parallel
#pragma omp atomic
      size += 1;
    }
    seen[me] = number == 0 && size >= 1 && omp_get_thread_num() == me && omp_get_num_threads() == threads;
  }
  for (int i = 0; i < threads; ++i) EXPECT(seen[i]);
}

static void routines(void) {
  EXPECT(omp_get_num_devices() == 0);
  const int host = omp_get_initial_device();
  EXPECT(omp_get_device_num() == host && omp_is_initial_device());
  omp_set_default_device(host);
  EXPECT(omp_get_default_device() == host);
  int* const block = omp_target_alloc(n * sizeof *block, host);
  EXPECT(block != NULL && omp_target_is_present(block, host));
  for (int i = 0; i < n; ++i) array[i] = i;
  EXPECT(omp_target_memcpy(block, array, 10 * sizeof *block, 4 * sizeof *block, 8 * sizeof *block, host, host) == 0);
  EXPECT(block[4] == 8 && block[13] == 17);
  const size_t volume[2] = {2, 3}, to[2] = {1, 2}, from[2] = {3, 4}, to_size[2] = {5, 10}, from_size[2] = {10, 20};
  EXPECT(omp_target_memcpy_rect(NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, host, host) >= 3);
  EXPECT(omp_target_memcpy_rect(block, array, sizeof *block, 2, volume, to, from, to_size, from_size, host, host) == 0);
  EXPECT(block[1 * 10 + 2] == 3 * 20 + 4 && block[2 * 10 + 4] == 4 * 20 + 6);
  EXPECT(omp_target_associate_ptr(array, block, sizeof array, 0, host) == EINVAL);
  EXPECT(omp_target_disassociate_ptr(array, host) == EINVAL);
  omp_target_free(block, host);
}

int main(void) {
  regions();
  data();
  teams();
  from_threads();
  routines();
  return expect_status();
}
