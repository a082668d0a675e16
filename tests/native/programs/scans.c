/* inscan reductions, conditional lastprivate, scope, loop, and other newer clauses of work-sharing constructs. */
#include "expect.h"

#include <omp.h>
#include <string.h>

enum { n = 300 };
static volatile unsigned long long bound = n; /* that the compiler does not know */
static int input[n], output[n], more[n];

static void scan(void) {
  int sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < n; ++i) {
    sum += input[i];
#pragma omp scan inclusive(sum)
    output[i] = sum;
  }
  int total = 0, right = 1;
  for (int i = 0; i < n; ++i) right &= output[i] == (total += input[i]);
  EXPECT(right && sum == total);
  sum = 0;
#pragma omp parallel
#pragma omp for reduction(inscan, + : sum)
  for (int i = 0; i < n; ++i) {
    output[i] = sum;
#pragma omp scan exclusive(sum)
    sum += input[i];
  }
  total = 0;
  for (int i = 0; i < n; ++i) {
    right &= output[i] == total;
    total += input[i];
  }
  EXPECT(right && sum == total);
  sum = 0;
#pragma omp simd reduction(inscan, + : sum)
  for (int i = 0; i < n; ++i) {
    sum += input[i];
#pragma omp scan inclusive(sum)
    more[i] = sum;
  }
  EXPECT(more[n - 1] == total);
}

static void last(void) {
  int last_even = -1, sections = 0;
#pragma omp parallel for lastprivate(conditional : last_even) schedule(dynamic, 3)
  for (int i = 0; i < n; ++i) {
    if (i % 7 == 0) last_even = i;
  }
  EXPECT(last_even == (n - 1) / 7 * 7);
#pragma omp parallel sections lastprivate(conditional : sections)
  {
#pragma omp section
    sections = 1;
#pragma omp section
    sections = 2;
#pragma omp section
    {}
  }
  EXPECT(sections == 2);
#pragma omp parallel
#pragma omp for lastprivate(conditional : last_even) schedule(guided) ordered
  for (int i = 0; i < n; ++i) {
    if (i % 11 == 0) last_even = i;
  }
  EXPECT(last_even == (n - 1) / 11 * 11);
#pragma omp parallel
#pragma omp for lastprivate(conditional : last_even) ordered(1)
  for (unsigned long long i = 1; i < bound; ++i) {
#pragma omp ordered depend(sink : i - 1)
    if (i % 17 == 0) last_even = (int)i;
#pragma omp ordered depend(source)
  }
  EXPECT(last_even == (n - 1) / 17 * 17);
}

static void scope(void) {
  int threads = 0, tasks = 0;
#pragma omp parallel
  {
#pragma omp scope reduction(+ : threads)
    ++threads;
#pragma omp scope reduction(task, + : tasks)
    {
#pragma omp task in_reduction(+ : tasks)
      tasks += 2;
    }
  }
  EXPECT(threads == omp_get_max_threads() && tasks == 2 * threads);
}

static void with_task_modifier(void) {
  int loop = 0, sections = 0, region = 0;
#pragma omp parallel reduction(task, + : region)
  {
#pragma omp task in_reduction(+ : region)
    ++region;
#pragma omp for reduction(task, + : loop) schedule(dynamic, 4)
    for (int i = 0; i < n; ++i) {
#pragma omp task in_reduction(+ : loop)
      loop += i;
    }
#pragma omp for reduction(task, + : loop) ordered
    for (int i = 0; i < n; ++i) {
#pragma omp ordered
      loop += 1;
    }
#pragma omp for reduction(task, + : loop) schedule(guided)
    for (unsigned long long i = 0; i < bound; ++i) loop += 1;
#pragma omp for reduction(task, + : loop) ordered schedule(dynamic)
    for (unsigned long long i = 0; i < bound; ++i) {
#pragma omp ordered
      loop += 1;
    }
#pragma omp sections reduction(task, + : sections)
    {
#pragma omp section
#pragma omp task in_reduction(+ : sections)
      sections += 1;
#pragma omp section
      sections += 2;
    }
  }
  EXPECT(region == omp_get_max_threads());
  EXPECT(loop == n * (n - 1) / 2 + 3 * n);
  EXPECT(sections == 3);
}

static void loops(void) {
  memset(output, 0, sizeof output);
#pragma omp parallel
  {
#pragma omp loop bind(parallel)
    for (int i = 0; i < n; ++i) ++output[i];
#pragma omp for order(concurrent)
    for (int i = 0; i < n; ++i) ++output[i];
#pragma omp for simd safelen(4) aligned(output : 4) nontemporal(output)
    for (int i = 0; i < n; ++i) ++output[i];
  }
#pragma omp parallel loop
  for (int i = 0; i < n; ++i) ++output[i];
#pragma omp loop bind(thread)
  for (int i = 0; i < n; ++i) ++output[i];
  int right = 1;
  for (int i = 0; i < n; ++i) right &= output[i] == 5;
  EXPECT(right);
}

int main(void) {
  for (int i = 0; i < n; ++i) input[i] = i % 13 + 1;
  scan();
  last();
  scope();
  with_task_modifier();
  loops();
  return expect_status();
}
