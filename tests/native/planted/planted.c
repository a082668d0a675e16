/* Programs that each have one fault planted, at a line that a comment names: does `sdsm explain` find it? Where it says
 * what mending gains, the mended program has to gain as much.
 *
 *   planted parts|counters|homes|lock|barriers|uneven|columns|static [mended] */
#include <omp.h>
#include <sdsm/placement.h>
#include <stdbool.h>
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

/* Where the page of a thread begins: all threads have the same one, or each its own beside it. */
static size_t page_of(int at, bool is_own) {
  const size_t threads = omp_get_num_threads(), self = omp_get_thread_num();
  return is_own ? at * threads + self * words : (size_t)at;
}

static size_t copies(bool are_own) {
  return are_own ? omp_get_max_threads() : 1;
}

/* Each thread has some lines of each page. */
static double missing_padding(bool is_mended) {
  double* parts = allocate(copies(is_mended) * pages * words); /* planted: parts */
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    const int part = words / omp_get_num_threads();
    for (int at = 0; at < pages * words; at += words) {
      double* own = parts + page_of(at, is_mended) + omp_get_thread_num() * part;
      for (int i = 0; i < part; ++i) own[i] += 1; /* touched: parts */
    }
#pragma omp barrier
  }
  return parts[0];
}

/* The counters of all threads lie in one line, for each of many things that are counted. */
static double shared_counters(bool is_mended) {
  double* counters = allocate(copies(is_mended) * pages * words); /* planted: counters */
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    for (int at = 0; at < pages * words; at += words) {
      counters[page_of(at, is_mended) + omp_get_thread_num()] += 1; /* touched: counters */
    }
#pragma omp barrier
  }
  return counters[0];
}

/* Threads use blocks, where pages are at home by turns. */
static double wrong_homes(bool is_mended) {
  double* field = is_mended ? sdsm_galloc(pages * page, sdsm_block) : allocate(pages * words); /* planted: homes */
  double* small = allocate(words);
  memset(field, 0, pages * page);
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
static double hot_lock(bool is_mended) {
  double* sum = allocate(words); /* planted: lock */
#pragma omp parallel
  {
    double own = 0;
    for (int round = 0; round < 10 * rounds; ++round) {
      if (is_mended) {
        own += 1;
        continue;
      }
#pragma omp critical
      sum[0] += 1; /* touched: lock */
    }
    if (is_mended) {
#pragma omp critical
      sum[0] += own;
    }
  }
  return sum[0];
}

/* Nothing between two barriers that another thread needs. */
static double too_many_barriers(bool is_mended) {
  double* own = allocate((size_t)words * 64); /* planted: barriers */
#pragma omp parallel
  for (int round = 0; round < 10 * rounds; ++round) {
    if (round % 50 == 0) own[omp_get_thread_num() * words] += 1; /* touched: barriers */
    if (!is_mended) {
#pragma omp barrier
    }
  }
  return own[0];
}

/* The last thread has all the work. */
static double uneven_work(bool is_mended) {
  (void)is_mended;
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

/* The loop over columns is shared out, where C keeps rows together. */
static double columns(bool is_mended) {
  double* grid = allocate(pages * words); /* planted: columns */
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    if (is_mended) {
#pragma omp for
      for (int row = 0; row < pages; ++row) {
        for (int column = 0; column < words; ++column) grid[row * words + column] += row;
      }
    } else {
#pragma omp for
      for (int column = 0; column < words; ++column) {
        for (int row = 0; row < pages; ++row) grid[row * words + column] += row; /* touched: columns */
      }
    }
  }
  return grid[words];
}

/* All threads count in one static array. */
static long hits[pages * words];

static double static_counters(bool is_mended) {
  (void)is_mended;
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    for (int at = 0; at < pages * words; at += words) hits[at + omp_get_thread_num()] += 1; /* touched: static */
#pragma omp barrier
  }
  return (double)hits[0];
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    double (*run)(bool is_mended);
  } all[] = {{"parts", missing_padding}, {"counters", shared_counters},   {"homes", wrong_homes},
             {"lock", hot_lock},         {"barriers", too_many_barriers}, {"uneven", uneven_work},
             {"columns", columns},       {"static", static_counters}};
  const bool is_mended = argc == 3 && strcmp(argv[2], "mended") == 0;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    if (argc >= 2 && strcmp(argv[1], all[i].name) == 0) {
      printf("%g\n", all[i].run(is_mended));
      return 0;
    }
  }
  fprintf(stderr, "usage: planted parts|counters|homes|lock|barriers|uneven|columns|static [mended]\n");
  return 2;
}
