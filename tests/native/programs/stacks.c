/* Addresses on stacks passed between threads: the initial thread's frame, and one worker's array read by the others. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>

#include "expect.h"

enum { n = 3000 };

static long sum_of(const int* values, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}

static int deep(int depth, int* shared_value) {
  volatile char frame[3000];
  frame[depth % 3000] = (char)depth;
  if (depth == 0) {
#pragma omp critical
    ++*shared_value;
    return 0;
  }
  return deep(depth - 1, shared_value) + frame[depth % 3000] - (char)depth;
}

/* As a garbage collector asks where pointers may be. */
static int is_on_own_stack(const void* variable) {
  pthread_attr_t attributes;
  void* lowest = NULL;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  return (const char*)variable >= (const char*)lowest && (const char*)variable < (const char*)lowest + bytes;
}

int main(void) {
  int on_main[n];
#pragma omp parallel for
  for (int i = 0; i < n; ++i) on_main[i] = i;
  EXPECT(sum_of(on_main, n) == (long)n * (n - 1) / 2);

  const int* published = NULL;
  int right = 0;
  int team = 1;
#pragma omp parallel shared(published, right, team)
  {
    int mine[n];
    for (int i = 0; i < n; ++i) mine[i] = omp_get_thread_num() + i;
    const int publisher = omp_get_num_threads() - 1;
    if (omp_get_thread_num() == publisher) {
      published = mine;
      team = omp_get_num_threads();
    }
#pragma omp barrier
    const long sum = sum_of(published, n);
#pragma omp critical
    right += sum == (long)n * publisher + (long)n * (n - 1) / 2;
#pragma omp barrier  // `mine` lives until all have read it
  }
  EXPECT(right == team);

  int bottom = 0;
  int off = 0;
#pragma omp parallel reduction(+ : off)
  off += deep(100, &bottom);
  EXPECT(bottom == team);
  EXPECT(off == 0);

  int known = 0;
#pragma omp parallel reduction(+ : known)
  {
    const int variable = 0;
    known += is_on_own_stack(&variable);
  }
  EXPECT(known == team);
  return expect_status();
}
