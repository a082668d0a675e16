/* The product of a matrix with a transposed one, after JIAJIA's program of this name: rows, pages, homes and barriers
 * are the same. See docs/workloads.md. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sdsm/placement.h"
#include "workloads/options.h"
#include "workloads/result.h"
#include "workloads/team.h"

static const char program[] = "mm";

enum { max_size = 16384 };

/* c = a times the transpose of b, all of size x size floats, row by row. */
struct product {
  long size;
  float* a;
  float* b;
  float* c;
};

static size_t bytes_of(long size) {
  return (size_t)size * (size_t)size * sizeof(float);
}

/* Allocates a matrix in one piece for each thread, of whole pages with their home at the thread. */
static float* allocate(long size, int threads) {
  return (float*)allocate_parts(program, threads, (bytes_of(size) + (size_t)threads - 1) / (size_t)threads).memory;
}

/* Whole numbers below 8: sums of up to 2^18 of their products are exact in a float. */
static float a_at(long row, long column) {
  return (float)((row * 3 + column * 5 + row * column) % 8);
}
static float b_at(long row, long column) {
  return (float)((row + column * 7 + row * column % 3) % 8);
}

static void initialise(const struct product* p) {
  for (long row = 0; row < p->size; ++row) {
    for (long column = 0; column < p->size; ++column) p->a[row * p->size + column] = a_at(row, column);
    for (long column = 0; column < p->size; ++column) p->b[row * p->size + column] = b_at(row, column);
  }
}

static void multiply(const struct product* p, long begin, long end) {
  for (long j = 0; j < p->size; ++j) {
    const float* other = p->b + j * p->size;
    for (long i = begin; i < end; ++i) {
      const float* row = p->a + i * p->size;
      float sum = 0;
      for (long k = 0; k < p->size; ++k) sum += row[k] * other[k];
      p->c[i * p->size + j] = sum;
    }
  }
}

static void solve_sequential(const struct product* p) {
  multiply(p, 0, p->size);
}

/* Each thread has size / threads rows; the last one has the rest, too (in the original nobody has it). */
static void solve_parallel(const struct product* shared) {
  const struct product p = *shared;
#pragma omp parallel default(none) firstprivate(p)
  {
    const int thread = omp_get_thread_num();
    const int threads = omp_get_num_threads();
    const long rows = p.size / threads;
    multiply(&p, thread * rows, thread == threads - 1 ? p.size : (thread + 1) * rows);
  }
}

/* Compares each row's sum, weighted by column numbers, with that from a and the weighted column sums of b: exact in
 * integers. Ends the program (exit status 1) if one differs. */
static void check(const float* c, long size) {
  int64_t* weighted = calloc((size_t)size, sizeof *weighted);
  if (!weighted) stop(status_failed, program, "no memory for a vector of %ld", size);
  for (long j = 0; j < size; ++j) {
    for (long k = 0; k < size; ++k) weighted[k] += (j + 1) * (int64_t)b_at(j, k);
  }
  for (long i = 0; i < size; ++i) {
    int64_t expected = 0;
    int64_t found = 0;
    for (long k = 0; k < size; ++k) expected += (int64_t)a_at(i, k) * weighted[k];
    for (long j = 0; j < size; ++j) found += (j + 1) * (int64_t)c[i * size + j];
    if (found != expected) {
      stop(status_failed, program, "check failed: row %ld has the weighted sum %lld instead of %lld", i,
           (long long)found, (long long)expected);
    }
  }
  printf("check: the weighted sums of all rows are exact\n");
  free(weighted);
}

struct options {
  struct run_options run;
  long size;
};

static void print_help(void) {
  printf(
      "usage: mm [--impl N] [--size N] [--no-check] [--hash] [--output FILE]\n"
      "\n"
      "The product of a matrix of small whole numbers with a transposed one. Threads: OMP_NUM_THREADS.\n"
      "\n"
      "  --impl N       0 sequential, 1 parallel: rows in equal parts, at home with their threads (default 1)\n"
      "  --size N       rows and columns, 1 to %d (default 1024)\n"
      "  --no-check     do not check the rows' sums afterwards\n"
      "  --hash         print a hash of the product, to compare runs\n"
      "  --output FILE  write the product to FILE: size x size floats, row by row, as they are in memory\n"
      "\n"
      "Prints the time of the product alone. Exit status: 0 done, 1 the check or the run failed, 2 bad usage.\n"
      "\n"
      "Try: OMP_NUM_THREADS=4 mm --size 1024\n",
      max_size);
}

static struct options read_options(int argc, char** argv) {
  enum { opt_size = 1 };
  static const struct option known[] = {{"size", required_argument, NULL, opt_size}, RUN_OPTION_ROWS};
  struct options options = {.run = {.implementation = 1, .check = 1}, .size = 1024};
  argv[0] = (char*)program;  // getopt's messages begin with it
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (option) {
      case opt_size: options.size = integer_option(program, "--size", optarg, 1, max_size); break;
      default: read_run_option(program, option, 2, print_help, &options.run);
    }
  }
  refuse_arguments(program, argc, argv);
  return options;
}

int main(int argc, char** argv) {
  const struct options options = read_options(argc, argv);
  const int threads = options.run.implementation == 0 ? 1 : omp_get_max_threads();
  printf("mm: %ld x %ld, %d thread%s\n", options.size, options.size, threads, threads == 1 ? "" : "s");

  const struct product p = {options.size, allocate(options.size, threads), allocate(options.size, threads),
                            allocate(options.size, threads)};
  initialise(&p);
  start_threads();
  const double begin = omp_get_wtime();
  (options.run.implementation == 0 ? solve_sequential : solve_parallel)(&p);
  const double end = omp_get_wtime();
  printf("time: %.6f s\n", end - begin);

  hand_over(program, &options.run, p.c, bytes_of(p.size));
  if (options.run.check) check(p.c, p.size);
  sdsm_gfree(p.a);
  sdsm_gfree(p.b);
  sdsm_gfree(p.c);
  return end_of_run(program);
}
