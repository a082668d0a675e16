/* Programs in which one construct among several is at fault, as a comment says (see planted.c).
 *
 *   planted_constructs needless|locks|loops|single|critical|helper [mended] */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 40, page = 4096, words = page / sizeof(double), most_threads = 64 };

static double *left, *right, *own;

/* A page for each thread. */
static double* allocate(void) {
  double* memory = aligned_alloc(page, most_threads * page);
  if (memory == NULL) exit(2);
  memset(memory, 0, most_threads * page);
  return memory;
}

static double* page_of(double* memory, int thread) {
  return memory + (thread % omp_get_num_threads()) * words;
}

static double work(double value, int times) {
  for (int i = 0; i < times; ++i) value = value * 0.999999 + 1e-6;
  return value;
}

/* Five barriers: at four of them threads hand pages on. */
static void needless_barrier(bool is_mended) {
#pragma omp parallel
  {
    const int self = omp_get_thread_num();
    for (int round = 0; round < rounds; ++round) {
      page_of(left, self)[0] += page_of(right, self)[0];
#pragma omp barrier
      page_of(right, self)[0] += page_of(left, self + 1)[0];
#pragma omp barrier
      page_of(left, self)[1] += page_of(right, self + 1)[0];
#pragma omp barrier
      page_of(own, self)[0] += page_of(left, self + 1)[1];
      if (!is_mended) {
#pragma omp barrier /* planted: needless */
      }
      page_of(own, self)[1] += 1;
#pragma omp barrier
    }
  }
}

/* Three locks, of which one is taken at each step. */
static void hot_lock(bool is_mended) {
  static omp_lock_t first, second, third;
  omp_init_lock(&first);
  omp_init_lock(&second);
  omp_init_lock(&third);
#pragma omp parallel
  {
    double sum = 0;
    for (int round = 0; round < 4 * rounds; ++round) {
      if (round % rounds == 0) {
        omp_set_lock(&first);
        left[0] += 1;
        omp_unset_lock(&first);
        omp_set_lock(&third);
        right[0] += 1;
        omp_unset_lock(&third);
      }
      if (is_mended) {
        sum += 1;
        continue;
      }
      omp_set_lock(&second); /* planted: locks */
      own[0] += 1;
      omp_unset_lock(&second);
    }
    if (is_mended) {
      omp_set_lock(&second);
      own[0] += sum;
      omp_unset_lock(&second);
    }
  }
}

/* Four loops, of which one has its work at the end. */
static void uneven_loop(bool is_mended) {
  enum { count = 64, each = 200000 };
#pragma omp parallel
  for (int round = 0; round < 4; ++round) {
#pragma omp for schedule(static)
    for (int i = 0; i < count; ++i) own[i * 8] = work(own[i * 8], each);
#pragma omp for schedule(static)
    for (int i = 0; i < count; ++i) left[i * 8] = work(left[i * 8], each);
#pragma omp for schedule(static) /* planted: loops */
    for (int i = 0; i < count; ++i)
      right[i * 8] = work(right[i * 8], is_mended ? 2 * each : i < count / 2 ? 0 : 4 * each);
#pragma omp for schedule(static)
    for (int i = 0; i < count; ++i) own[i * 8] = work(own[i * 8], each);
  }
}

/* One thread alone does a little in each turn of a loop. */
static void single_in_loop(bool is_mended) {
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    page_of(left, omp_get_thread_num())[0] += 1;
#pragma omp barrier
    page_of(own, omp_get_thread_num())[0] += page_of(left, omp_get_thread_num() + 1)[0];
    if (!is_mended) {
#pragma omp single /* planted: single */
      { right[0] += 1; }
    }
#pragma omp barrier
  }
}

/* A sum that each thread adds to at each step. */
static void reduction_by_critical(bool is_mended) {
  double sum = 0;
  if (is_mended) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 8 * rounds; ++i) sum += i;
  } else {
#pragma omp parallel for
    for (int i = 0; i < 8 * rounds; ++i) {
#pragma omp critical /* planted: critical */
      sum += i;
    }
  }
  left[0] = sum;
}

static void __attribute__((noinline)) wait_for_all(void) {
#pragma omp barrier
}

/* The needless barrier is in a function, which the compiler leaves as it calls: the caller's line is known. */
static void barrier_in_helper(bool is_mended) {
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    page_of(own, omp_get_thread_num())[0] += 1;
    if (!is_mended) wait_for_all(); /* planted: helper */
    page_of(left, omp_get_thread_num())[0] += 1;
#pragma omp barrier
    page_of(right, omp_get_thread_num())[0] += page_of(left, omp_get_thread_num() + 1)[0];
#pragma omp barrier
  }
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(bool is_mended);
  } all[] = {{"needless", needless_barrier},
             {"locks", hot_lock},
             {"loops", uneven_loop},
             {"single", single_in_loop},
             {"critical", reduction_by_critical},
             {"helper", barrier_in_helper}};
  const bool is_mended = argc == 3 && strcmp(argv[2], "mended") == 0;
  left = allocate();
  right = allocate();
  own = allocate();
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    if (argc >= 2 && strcmp(argv[1], all[i].name) == 0) {
      all[i].run(is_mended);
      printf("%g %g %g\n", left[0], right[0], own[0]);
      return 0;
    }
  }
  fprintf(stderr, "usage: planted_constructs needless|locks|loops|single|critical|helper [mended]\n");
  return 2;
}
