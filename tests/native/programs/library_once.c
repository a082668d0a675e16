/* What happens once, by POSIX and by C11, and values that each thread has for itself. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "expect.h"

enum { cells = 3000, tables = 25 };

static pthread_once_t posix_once = PTHREAD_ONCE_INIT;
static once_flag c11_once = ONCE_FLAG_INIT;
static int posix_calls, c11_calls, nested_calls;
static int table[cells];
static int* from_heap;
static pthread_key_t posix_key;
static tss_t c11_key;

static pthread_once_t nested_once = PTHREAD_ONCE_INIT;
static void nested(void) {
  ++nested_calls;
  from_heap = malloc(cells * sizeof *from_heap);
  for (int i = 0; i < cells; ++i) from_heap[i] = -i;
}
static void make_posix(void) {
  ++posix_calls;
  pthread_once(&nested_once, nested);
  for (int i = 0; i < cells; ++i) table[i] = i;
  pthread_key_create(&posix_key, free);
}
static void make_c11(void) {
  ++c11_calls;
  tss_create(&c11_key, NULL);
}

/* In blocks that the heap hands out again. */
struct lazy {
  pthread_once_t once;
  int made;
  int content[500];
};
static struct lazy* under_way;
static void make_lazy(void) {
  ++under_way->made;
  for (int i = 0; i < 500; ++i) under_way->content[i] = under_way->made + i;
}

/* A call that takes long to become known: the next ones come while it does. */
enum { pages = 40, rounds = 12, page_ints = 1024 };
static pthread_once_t set_back = PTHREAD_ONCE_INIT;
static int* long_table;
static int round_now;
static void make_long_table(void) {
  for (int page = 0; page < pages; ++page) long_table[page * page_ints] = round_now;
}
static int wrong_of_set_back(int self) {
  int wrong = 0;
  for (int round = 1; round <= rounds; ++round) {
#pragma omp single
    {
      set_back = (pthread_once_t)PTHREAD_ONCE_INIT;
      round_now = round;
    }
    for (int page = 0; page < pages; ++page) wrong += long_table[page * page_ints] != round - 1;
#pragma omp barrier
    if (self > 0) usleep((unsigned)(rand_r(&(unsigned){(unsigned)(round * 64 + self)}) % 4000));
    pthread_once(&set_back, make_long_table);
    for (int page = 0; page < pages; ++page) wrong += long_table[page * page_ints] != round;
#pragma omp barrier
  }
  return wrong;
}

int main(void) {
  int team = 1;
  int wrong[256] = {0};
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
#pragma omp master
    team = omp_get_num_threads();
    for (int times = 0; times < 3; ++times) {
      pthread_once(&posix_once, make_posix);
      call_once(&c11_once, make_c11);
      pthread_once(&nested_once, nested);
      for (int i = 0; i < cells; ++i) wrong[self] += table[i] != i || from_heap[i] != -i;
    }
    wrong[self] += pthread_getspecific(posix_key) != NULL || tss_get(c11_key) != NULL;
    char* own = malloc(16);
    own[0] = (char)self;
    wrong[self] += pthread_setspecific(posix_key, own) != 0;
    wrong[self] += tss_set(c11_key, own + 1) != thrd_success;
#pragma omp barrier
    char* found = pthread_getspecific(posix_key);
    wrong[self] += found != own || found[0] != (char)self || tss_get(c11_key) != own + 1;
  }
  EXPECT(posix_calls == 1);
  EXPECT(c11_calls == 1);
  EXPECT(nested_calls == 1);

  for (int t = 0; t < tables; ++t) {
    struct lazy* lazy = calloc(1, sizeof *lazy);
    under_way = lazy;
#pragma omp parallel
    {
      const int self = omp_get_thread_num();
      /* Some threads have looked at the page before. */
      if (self % 2 == 0) wrong[self] += lazy->content[1] != 0 && lazy->content[1] != 2;
      pthread_once(&lazy->once, make_lazy);
      for (int i = 0; i < 500; ++i) wrong[self] += lazy->content[i] != 1 + i;
    }
    EXPECT(lazy->made == 1);
    free(lazy);
  }
  long_table = calloc(pages * page_ints, sizeof *long_table);
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    wrong[self] += wrong_of_set_back(self);
  }
  free(long_table);
  int bad = 0;
  for (int i = 0; i < team; ++i) bad += wrong[i];
  EXPECT(bad == 0);
  return expect_status();
}
