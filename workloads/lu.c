/* LU factorisation without pivoting, by contiguous blocks, after JIAJIA's program of this name (with its index of
 * blocks corrected): owners, pages, homes and barriers are the same. See docs/workloads.md. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "sdsm/placement.h"
#include "workloads/options.h"
#include "workloads/result.h"
#include "workloads/team.h"

static const char program[] = "lu";
static const double check_tolerance = 1e-12;

/* Threads in a grid as square as can be; block (i, j) belongs to thread j mod columns + i mod rows * columns. */
struct owners {
  int rows;
  int columns;
};

static struct owners owners_of(int threads) {
  int rows = 1;
  for (int r = 1; r * r <= threads; ++r) {
    if (threads % r == 0) rows = r;
  }
  return (struct owners){rows, threads / rows};
}

static int owner_of(struct owners owners, long i, long j) {
  return (int)(j % owners.columns) + (int)(i % owners.rows) * owners.columns;
}

/* A matrix whose blocks lie with their owners, one after the other, each column by column. */
struct matrix {
  long n;
  long block; /* rows and columns of a block; the last ones hold fewer of the matrix */
  long side;  /* blocks in a row or column */
  struct owners at_home;
  struct parts parts;
};

static struct matrix make_matrix(long n, long block, int threads) {
  const size_t slack = 8192; /* as in the original */
  struct matrix a = {.n = n, .block = block, .side = (n + block - 1) / block, .at_home = owners_of(threads)};
  const long rows = (a.side - 1) / a.at_home.rows + 1;
  const long columns = (a.side - 1) / a.at_home.columns + 1;
  a.parts = allocate_parts(program, threads, (size_t)(rows * columns * block * block) * sizeof(double) + slack);
  return a;
}

static double* block_of(const struct matrix* a, long i, long j) {
  const struct owners at = a->at_home;
  const long columns = (a->side - 1 - j % at.columns) / at.columns + 1; /* with blocks of this owner */
  const long number = i / at.rows * columns + j / at.columns;
  double* first = (double*)(a->parts.memory + (size_t)owner_of(at, i, j) * a->parts.part_bytes);
  return first + number * a->block * a->block;
}

/* Number of the matrix's rows in block row i, and of its columns in block column i. */
static long held(const struct matrix* a, long i) {
  return i < a->side - 1 ? a->block : a->n - i * a->block;
}

static double* element(const struct matrix* a, long row, long column) {
  const long size = a->block;
  return block_of(a, row / size, column / size) + column % size * size + row % size;
}

/* The matrix that is factorised: a diagonal so large that no pivot gets small. */
static double initial(long n, long row, long column) {
  return (double)((row * 7919 + column * 104729) % 1009) / 1009 + (row == column ? (double)n : 0);
}

static void initialise(const struct matrix* a) {
  for (long column = 0; column < a->n; ++column) {
    for (long row = 0; row < a->n; ++row) *element(a, row, column) = initial(a->n, row, column);
  }
}

/* d = L U in place, L with ones on its diagonal. */
static void factorise(double* d, long size, long n) {
  for (long k = 0; k < n; ++k) {
    for (long i = k + 1; i < n; ++i) d[k * size + i] /= d[k * size + k];
    for (long j = k + 1; j < n; ++j) {
      for (long i = k + 1; i < n; ++i) d[j * size + i] -= d[k * size + i] * d[j * size + k];
    }
  }
}

/* b := b U^-1 for the U in d, of n columns; b has `rows` rows. */
static void divide_by_upper(const double* restrict d, double* restrict b, long size, long n, long rows) {
  for (long k = 0; k < n; ++k) {
    for (long i = 0; i < rows; ++i) b[k * size + i] /= d[k * size + k];
    for (long j = k + 1; j < n; ++j) {
      for (long i = 0; i < rows; ++i) b[j * size + i] -= b[k * size + i] * d[j * size + k];
    }
  }
}

/* b := L^-1 b for the L in d, of n rows; b has `columns` columns. */
static void divide_by_lower(const double* restrict d, double* restrict b, long size, long n, long columns) {
  for (long j = 0; j < columns; ++j) {
    for (long k = 0; k < n; ++k) {
      for (long i = k + 1; i < n; ++i) b[j * size + i] -= d[k * size + i] * b[j * size + k];
    }
  }
}

/* c -= a b, where a has n columns. */
static void subtract_product(const double* restrict a, const double* restrict b, double* restrict c, long size,
                             long rows, long n, long columns) {
  for (long j = 0; j < columns; ++j) {
    for (long k = 0; k < n; ++k) {
      for (long i = 0; i < rows; ++i) c[j * size + i] -= a[k * size + i] * b[j * size + k];
    }
  }
}

/* The block row and column of step k, but for the diagonal block: the caller's blocks of it. */
static void solve_edges(const struct matrix* a, long k, struct owners owners, int me) {
  const double* diagonal = block_of(a, k, k);
  const long n = held(a, k);
  for (long i = k + 1; i < a->side; ++i) {
    if (owner_of(owners, i, k) == me) divide_by_upper(diagonal, block_of(a, i, k), a->block, n, held(a, i));
  }
  for (long j = k + 1; j < a->side; ++j) {
    if (owner_of(owners, k, j) == me) divide_by_lower(diagonal, block_of(a, k, j), a->block, n, held(a, j));
  }
}

/* Subtracts step k's products from the blocks behind its row and column: the caller's blocks. */
static void update_interior(const struct matrix* a, long k, struct owners owners, int me) {
  for (long i = k + 1; i < a->side; ++i) {
    for (long j = k + 1; j < a->side; ++j) {
      if (owner_of(owners, i, j) != me) continue;
      subtract_product(block_of(a, i, k), block_of(a, k, j), block_of(a, i, j), a->block, held(a, i), held(a, k),
                       held(a, j));
    }
  }
}

static void solve_sequential(const struct matrix* a) {
  const struct owners alone = owners_of(1);
  for (long k = 0; k < a->side; ++k) {
    factorise(block_of(a, k, k), a->block, held(a, k));
    solve_edges(a, k, alone, 0);
    update_interior(a, k, alone, 0);
  }
}

/* Reads the caller's blocks, as the original does before it starts. */
static void read_own(const struct matrix* a, struct owners owners, int me) {
  double largest = 0;
  for (long i = 0; i < a->side; ++i) {
    for (long j = 0; j < a->side; ++j) {
      if (owner_of(owners, i, j) != me) continue;
      const double* block = block_of(a, i, j);
      for (long at = 0; at < a->block * a->block; ++at) largest = fmax(largest, fabs(block[at]));
    }
  }
  __asm__ volatile("" : : "x"(largest));  // else the compiler leaves the reading out
}

static void solve_parallel(const struct matrix* shared) {
  const struct matrix a = *shared;
#pragma omp parallel default(none) firstprivate(a)
  {
    const int me = omp_get_thread_num();
    const struct owners owners = owners_of(omp_get_num_threads());
    read_own(&a, owners, me);
#pragma omp barrier
    for (long k = 0; k < a.side; ++k) {
      if (owner_of(owners, k, k) == me) factorise(block_of(&a, k, k), a.block, held(&a, k));
#pragma omp barrier
      solve_edges(&a, k, owners, me);
#pragma omp barrier
      update_interior(&a, k, owners, me);  // and on to the next diagonal block, which its owner has just written
    }
#pragma omp barrier
  }
}

/* The factors in one array, column by column, in memory that free() takes. */
static double* gather(const struct matrix* a) {
  double* all = malloc((size_t)a->n * (size_t)a->n * sizeof *all);
  if (!all) stop(status_failed, program, "no memory for a matrix of %ld x %ld", a->n, a->n);
  for (long column = 0; column < a->n; ++column) {
    for (long row = 0; row < a->n; ++row) all[column * a->n + row] = *element(a, row, column);
  }
  return all;
}

/* Compares L (U x) with A x for an irregular x. Ends the program (exit status 1) if they differ. */
static void check(const double* factors, long n) {
  double* vectors = calloc(3 * (size_t)n, sizeof *vectors);
  if (!vectors) stop(status_failed, program, "no memory for vectors of %ld", n);
  double* expected = vectors;
  double* upper = vectors + n;
  double* found = vectors + 2 * n;
  for (long column = 0; column < n; ++column) {
    const double x = 1 + (double)(column * 31 % 17) / 17;
    for (long row = 0; row < n; ++row) expected[row] += initial(n, row, column) * x;
    for (long row = 0; row <= column; ++row) upper[row] += factors[column * n + row] * x;
  }
  for (long column = 0; column < n; ++column) {
    found[column] += upper[column];
    for (long row = column + 1; row < n; ++row) found[row] += factors[column * n + row] * upper[column];
  }
  for (long row = 0; row < n; ++row) {
    if (!(fabs(found[row] - expected[row]) <= check_tolerance * (double)n * expected[row])) {
      stop(status_failed, program, "check failed: row %ld of the factors' product, times a vector, is %.17g for %.17g",
           row, found[row], expected[row]);
    }
  }
  printf("check: the factors' product is the matrix\n");
  free(vectors);
}

struct options {
  struct run_options run;
  long size;
  long block;
};

static void print_help(void) {
  printf(
      "usage: lu [--impl N] [--size N] [--block N] [--no-check] [--hash] [--output FILE]\n"
      "\n"
      "A matrix as the product of a lower and an upper triangle, without pivoting, block by block; blocks belong to\n"
      "threads in turns, along rows and columns. Threads: OMP_NUM_THREADS.\n"
      "\n"
      "  --impl N       0 sequential, 1 parallel: each thread's blocks are at home with it (default 1)\n"
      "  --size N       rows and columns, 1 to 32768 (default 1024)\n"
      "  --block N      rows and columns of a block, 1 to 1024 (default 32)\n"
      "  --no-check     do not multiply the factors afterwards\n"
      "  --hash         print a hash of the factors, to compare runs\n"
      "  --output FILE  write the factors to FILE: size x size doubles, column by column, as they are in memory\n"
      "\n"
      "Prints the time of the factorisation alone. Exit status: 0 done, 1 the check or the run failed, 2 bad usage.\n"
      "\n"
      "Try: OMP_NUM_THREADS=4 lu --size 1024 --block 32\n");
}

static struct options read_options(int argc, char** argv) {
  enum { opt_size = 1, opt_block };
  static const struct option known[] = {
      {"size", required_argument, NULL, opt_size},
      {"block", required_argument, NULL, opt_block},
      RUN_OPTION_ROWS,
  };
  struct options options = {.run = {.implementation = 1, .check = 1}, .size = 1024, .block = 32};
  argv[0] = (char*)program;  // getopt's messages begin with it
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (option) {
      case opt_size: options.size = integer_option(program, "--size", optarg, 1, 32768); break;
      case opt_block: options.block = integer_option(program, "--block", optarg, 1, 1024); break;
      default: read_run_option(program, option, 2, print_help, &options.run);
    }
  }
  refuse_arguments(program, argc, argv);
  return options;
}

int main(int argc, char** argv) {
  const struct options options = read_options(argc, argv);
  const int threads = options.run.implementation == 0 ? 1 : omp_get_max_threads();
  printf("lu: %ld x %ld, blocks of %ld x %ld, %d thread%s\n", options.size, options.size, options.block, options.block,
         threads, threads == 1 ? "" : "s");

  const struct matrix a = make_matrix(options.size, options.block, threads);
  initialise(&a);
  start_threads();
  const double begin = omp_get_wtime();
  (options.run.implementation == 0 ? solve_sequential : solve_parallel)(&a);
  const double end = omp_get_wtime();
  printf("time: %.6f s\n", end - begin);

  if (wants_result(&options.run)) {
    double* factors = gather(&a);
    hand_over(program, &options.run, factors, (size_t)options.size * (size_t)options.size * sizeof *factors);
    if (options.run.check) check(factors, options.size);
    free(factors);
  }
  sdsm_gfree(a.parts.memory);
  return end_of_run(program);
}
