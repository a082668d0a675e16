/* Programs that each have one fault planted, at a line that a comment names: does `sdsm explain` find it?
 *
 *   planted parts|counters|homes|lock|barriers|uneven */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 20, page = 4096, words = page / sizeof(double), pages = 64 };

static double* allocate(size_t count) {
  double* memory = aligned_alloc(page, (count * sizeof(double) + page - 1) / page * page);
  if (memory == NULL) exit(2);
  memset(memory, 0, count * sizeof(double));
  return memory;
}

/* Each thread has some lines of each page. */
static double missing_padding(void) {
  double* parts = allocate(pages * words); /* planted: parts */
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    const int part = words / omp_get_num_threads();
    for (int at = 0; at < pages * words; at += words) {
      double* own = parts + at + omp_get_thread_num() * part;
      for (int i = 0; i < part; ++i) own[i] += 1; /* touched: parts */
    }
#pragma omp barrier
  }
  return parts[0];
}

/* The counters of all threads lie in one line, for each of many things that are counted. */
static double shared_counters(void) {
  double* counters = allocate(pages * words); /* planted: counters */
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    for (int at = 0; at < pages * words; at += words) {
      counters[at + omp_get_thread_num()] += 1; /* touched: counters */
    }
#pragma omp barrier
  }
  return counters[0];
}

/* Threads use blocks, where pages are at home by turns. */
static double wrong_homes(void) {
  double* field = allocate(pages * words); /* planted: homes */
  double* small = allocate(words);
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
#pragma omp for schedule(static)
    for (int i = 0; i < pages * words; ++i) field[i] += 1; /* touched: homes */
#pragma omp single
    small[0] += 1;
  }
  return field[0] + small[0];
}

/* A lock for each addition. */
static double hot_lock(void) {
  double* sum = allocate(words); /* planted: lock */
#pragma omp parallel
  for (int round = 0; round < 10 * rounds; ++round) {
#pragma omp critical
    sum[0] += 1; /* touched: lock */
  }
  return sum[0];
}

/* Nothing between two barriers that another thread needs. */
static double too_many_barriers(void) {
  double* own = allocate((size_t)words * 64); /* planted: barriers */
#pragma omp parallel
  for (int round = 0; round < 10 * rounds; ++round) {
    if (round % 50 == 0) own[omp_get_thread_num() * words] += 1; /* touched: barriers */
#pragma omp barrier
  }
  return own[0];
}

/* The last thread has all the work. */
static double uneven_work(void) {
  double* results = allocate((size_t)words * 64); /* planted: uneven */
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    volatile double sum = 0;
    if (self == omp_get_num_threads() - 1) {
      for (int i = 0; i < 50000000; ++i) sum += i;
    }
    results[self * words] = sum; /* touched: uneven */
#pragma omp barrier
  }
  return results[0];
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    double (*run)(void);
  } all[] = {{"parts", missing_padding}, {"counters", shared_counters},   {"homes", wrong_homes},
             {"lock", hot_lock},         {"barriers", too_many_barriers}, {"uneven", uneven_work}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    if (argc == 2 && strcmp(argv[1], all[i].name) == 0) {
      printf("%g\n", all[i].run());
      return 0;
    }
  }
  fprintf(stderr, "usage: planted parts|counters|homes|lock|barriers|uneven\n");
  return 2;
}
