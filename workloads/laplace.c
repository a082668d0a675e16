/* The 2D Laplace kernel of H.J. Wong and A.P. Rendell, "Optimizing Performance for SCore Cluster Enabled OpenMP
 * Applications" (2005): Jacobi iteration on a square grid with fixed edges, in seven implementations that differ only
 * in how OpenMP is used. See docs/workloads.md. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdsm/placement.h"
#include "workloads/options.h"
#include "workloads/result.h"
#include "workloads/team.h"

static const char program[] = "laplace";

enum { max_static_size = 2048, max_size = 65536 };

/* The grids of implementations 5 and 6: `omni mapping` places static arrays only. A smaller grid uses the first
 * size * size elements. */
static SDSM_PAGE_ALIGNED double static_grid_a[(size_t)max_static_size * max_static_size];
static SDSM_PAGE_ALIGNED double static_grid_b[(size_t)max_static_size * max_static_size];

/* Jacobi steps from `from` into `to` and back. Returns the grid that holds the last step. */
typedef double* (*Solver)(double* from, double* to, long size, long iterations);

static void swap(double** a, double** b) {
  double* was_a = *a;
  *a = *b;
  *b = was_a;
}

/* Every implementation computes a row by this one function, so their results agree to the last bit. */
static inline void relax_row(const double* restrict from, double* restrict to, long size, long row) {
  const double* middle = from + row * size;
  const double* above = middle - size;
  const double* below = middle + size;
  double* result = to + row * size;
  for (long j = 1; j < size - 1; ++j) {
    result[j] = 0.25 * (above[j] + below[j] + middle[j - 1] + middle[j + 1]);
  }
}

static double* solve_sequential(double* from, double* to, long size, long iterations) {
  for (long k = 0; k < iterations; ++k) {
    for (long i = 1; i < size - 1; ++i) relax_row(from, to, size, i);
    swap(&from, &to);
  }
  return from;
}

static double* solve_naive(double* from, double* to, long size, long iterations) {
  for (long k = 0; k < iterations; ++k) {
#pragma omp parallel for schedule(static) default(none) firstprivate(from, to, size)
    for (long i = 1; i < size - 1; ++i) relax_row(from, to, size, i);
    swap(&from, &to);
  }
  return from;
}

static double* solve_barrier_minimised(double* from, double* to, long size, long iterations) {
#pragma omp parallel default(none) firstprivate(from, to, size, iterations)
  for (long k = 0; k < iterations; ++k) {
#pragma omp for schedule(static)
    for (long i = 1; i < size - 1; ++i) relax_row(from, to, size, i);
    swap(&from, &to);
  }
  return iterations % 2 == 0 ? from : to;
}

/* The loop covers the first and the last row too, and skips them inside: a thread's share of the rows is then its share
 * of the pages. */
static double* solve_locality(double* from, double* to, long size, long iterations) {
  for (long k = 0; k < iterations; ++k) {
#pragma omp parallel for schedule(static) default(none) firstprivate(from, to, size)
    for (long i = 0; i < size; ++i) {
      if (i > 0 && i < size - 1) relax_row(from, to, size, i);
    }
    swap(&from, &to);
  }
  return from;
}

static double* solve_locality_barrier_minimised(double* from, double* to, long size, long iterations) {
#pragma omp parallel default(none) firstprivate(from, to, size, iterations)
  for (long k = 0; k < iterations; ++k) {
#pragma omp for schedule(static)
    for (long i = 0; i < size; ++i) {
      if (i > 0 && i < size - 1) relax_row(from, to, size, i);
    }
    swap(&from, &to);
  }
  return iterations % 2 == 0 ? from : to;
}

static double* solve_affinity(double* from, double* to, long size, long iterations) {
  for (long k = 0; k < iterations; ++k) {
#pragma omp parallel default(none) firstprivate(from, to, size)
    {
      const struct sdsm_rows mine = sdsm_affinity(to, (size_t)size * sizeof *to, 1, size - 1);
      for (long i = mine.begin; i < mine.end; ++i) relax_row(from, to, size, i);
    }
    swap(&from, &to);
  }
  return from;
}

static double* solve_affinity_barrier_minimised(double* from, double* to, long size, long iterations) {
#pragma omp parallel default(none) firstprivate(from, to, size, iterations)
  for (long k = 0; k < iterations; ++k) {
    const struct sdsm_rows mine = sdsm_affinity(to, (size_t)size * sizeof *to, 1, size - 1);
    for (long i = mine.begin; i < mine.end; ++i) relax_row(from, to, size, i);
#pragma omp barrier
    swap(&from, &to);
  }
  return iterations % 2 == 0 ? from : to;
}

enum grid_memory { heap_round_robin, heap_block, static_block };

static const struct {
  const char* name;
  Solver solve;
  enum grid_memory memory;
} implementations[] = {
    {"sequential", solve_sequential, heap_round_robin},
    {"naive", solve_naive, heap_round_robin},
    {"barrier minimised", solve_barrier_minimised, heap_round_robin},
    {"locality", solve_locality, heap_block},
    {"locality and barrier minimised", solve_locality_barrier_minimised, heap_block},
    {"affinity", solve_affinity, static_block},
    {"affinity and barrier minimised", solve_affinity_barrier_minimised, static_block},
};
enum { implementation_count = sizeof implementations / sizeof implementations[0] };

struct hot_edges {
  int top, bottom, left, right;
};

struct options {
  struct run_options run;
  long size;
  long iterations;
  struct hot_edges hot;
};

static void initialise(double* grid, long size, struct hot_edges hot) {
  const double hot_value = 100.0;
  for (long i = 0; i < size; ++i) {
    for (long j = 0; j < size; ++j) {
      const int is_hot =
          (hot.top && i == 0) || (hot.bottom && i == size - 1) || (hot.left && j == 0) || (hot.right && j == size - 1);
      grid[i * size + j] = is_hot ? hot_value : 0.0;
    }
  }
}

/* Allocates an implementation's grid, or returns `static_grid` for a static one. */
static double* allocate(enum grid_memory memory, double* static_grid, long size) {
  const size_t bytes = (size_t)size * (size_t)size * sizeof(double);
  double* grid = NULL;
  switch (memory) {
    case heap_round_robin: grid = malloc(bytes); break;
    case heap_block: grid = sdsm_galloc(bytes, sdsm_block); break;
    case static_block:
      if (sdsm_map(static_grid, bytes, sdsm_block) != 0) {
        stop(status_failed, program, "the run-time refused to place a static array of %zu bytes by blocks", bytes);
      }
      return static_grid;
  }
  if (!grid) stop(status_failed, program, "no memory for a grid of %ld x %ld (%zu bytes)", size, size, bytes);
  return grid;
}

static void release(enum grid_memory memory, double* grid) {
  switch (memory) {
    case heap_round_robin: free(grid); break;
    case heap_block: sdsm_gfree(grid); break;
    case static_block: break;
  }
}

/* Compares with a grid that this thread computes alone. Ends the program (exit status 1) if they differ. */
static void check(const double* result, const struct options* options) {
  const long size = options->size;
  double* from = allocate(heap_round_robin, NULL, size);
  double* to = allocate(heap_round_robin, NULL, size);
  initialise(from, size, options->hot);
  initialise(to, size, options->hot);
  const double* expected = solve_sequential(from, to, size, options->iterations);
  for (long i = 0; i < size; ++i) {
    for (long j = 0; j < size; ++j) {
      const long at = i * size + j;
      if (memcmp(&result[at], &expected[at], sizeof *result) != 0) {
        stop(status_failed, program, "check failed: row %ld, column %ld is %.17g where the sequential grid has %.17g",
             i, j, result[at], expected[at]);
      }
    }
  }
  printf("check: identical to the sequential grid\n");
  free(from);
  free(to);
}

static void print_help(void) {
  printf(
      "usage: laplace [--impl N] [--size N] [--iterations N] [--hot EDGES] [--no-check] [--hash] [--output FILE]\n"
      "\n"
      "Temperatures on a square plate whose edges are held fixed, by Jacobi iteration: each step replaces every inner\n"
      "point by the mean of its four neighbours. Threads: OMP_NUM_THREADS.\n"
      "\n"
      "  --impl N        how OpenMP is used (default 4):\n"
      "                    0  sequential\n"
      "                    1  naive: `parallel for` in every iteration, pages placed round-robin\n"
      "                    2  barrier minimised: `parallel` around the iterations, one barrier in each\n"
      "                    3  locality: 1 with each thread's rows placed where the thread runs\n"
      "                    4  locality and barrier minimised: 3 with 2\n"
      "                    5  affinity: 1 with static arrays placed by blocks, rows computed where they are\n"
      "                    6  affinity and barrier minimised: 5 with 2\n"
      "  --size N        rows and columns, 3 to %d (default 1024; implementations 5 and 6: at most %d)\n"
      "  --iterations N  steps (default 100)\n"
      "  --hot EDGES     edges held at 100 degrees, the others at 0: a list such as top,left, or all, or none\n"
      "                  (default top)\n"
      "  --no-check      do not compare with the sequential grid afterwards\n"
      "  --hash          print a hash of the grid, to compare runs\n"
      "  --output FILE   write the grid to FILE: size x size doubles, row by row, as they are in memory\n"
      "\n"
      "Prints the time of the iterations alone. Exit status: 0 done, 1 the check or the run failed, 2 bad usage.\n"
      "\n"
      "Try: OMP_NUM_THREADS=4 laplace --impl 4 --size 1024 --iterations 100\n",
      max_size, max_static_size);
}

static struct hot_edges read_hot_edges(const char* text) {
  static const struct {
    const char* name;
    struct hot_edges edges;
  } names[] = {{"top", {1, 0, 0, 0}},   {"bottom", {0, 1, 0, 0}}, {"left", {0, 0, 1, 0}},
               {"right", {0, 0, 0, 1}}, {"all", {1, 1, 1, 1}},    {"none", {0, 0, 0, 0}}};
  struct hot_edges hot = {0, 0, 0, 0};
  for (const char* rest = text;; ++rest) {
    const size_t length = strcspn(rest, ",");
    size_t i = 0;
    const size_t count = sizeof names / sizeof names[0];
    while (i < count && !(strlen(names[i].name) == length && strncmp(rest, names[i].name, length) == 0)) ++i;
    if (i == count) {
      stop(status_bad_input, program, "--hot '%s' is not a list of top, bottom, left, right (or all, or none)", text);
    }
    hot.top |= names[i].edges.top;
    hot.bottom |= names[i].edges.bottom;
    hot.left |= names[i].edges.left;
    hot.right |= names[i].edges.right;
    rest += length;
    if (*rest == '\0') return hot;
  }
}

static struct options read_options(int argc, char** argv) {
  enum { opt_size = 1, opt_iterations, opt_hot };
  static const struct option known[] = {
      {"size", required_argument, NULL, opt_size},
      {"iterations", required_argument, NULL, opt_iterations},
      {"hot", required_argument, NULL, opt_hot},
      RUN_OPTION_ROWS,
  };
  struct options options = {
      .run = {.implementation = 4, .check = 1}, .size = 1024, .iterations = 100, .hot = {.top = 1}};
  argv[0] = (char*)program;  // getopt's messages begin with it
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (option) {
      case opt_size: options.size = integer_option(program, "--size", optarg, 3, max_size); break;
      case opt_iterations: options.iterations = integer_option(program, "--iterations", optarg, 0, 1000000000); break;
      case opt_hot: options.hot = read_hot_edges(optarg); break;
      default: read_run_option(program, option, implementation_count, print_help, &options.run);
    }
  }
  refuse_arguments(program, argc, argv);
  if (implementations[options.run.implementation].memory == static_block && options.size > max_static_size) {
    stop(status_bad_input, program,
         "--size %ld is more than the static arrays of implementation %d hold (%d); use --impl 4, whose grids are "
         "allocated",
         options.size, options.run.implementation, max_static_size);
  }
  return options;
}

int main(int argc, char** argv) {
  const struct options options = read_options(argc, argv);
  const enum grid_memory memory = implementations[options.run.implementation].memory;
  const int threads = options.run.implementation == 0 ? 1 : omp_get_max_threads();
  printf("laplace: implementation %d (%s), %ld x %ld, %ld iterations, %d thread%s\n", options.run.implementation,
         implementations[options.run.implementation].name, options.size, options.size, options.iterations, threads,
         threads == 1 ? "" : "s");

  double* from = allocate(memory, static_grid_a, options.size);
  double* to = allocate(memory, static_grid_b, options.size);
  initialise(from, options.size, options.hot);
  initialise(to, options.size, options.hot);
  start_threads();
  const double begin = omp_get_wtime();
  double* result = implementations[options.run.implementation].solve(from, to, options.size, options.iterations);
  const double end = omp_get_wtime();
  printf("time: %.6f s\n", end - begin);

  const size_t bytes = (size_t)options.size * (size_t)options.size * sizeof(double);
  hand_over(program, &options.run, result, bytes);
  if (options.run.check) check(result, &options);
  release(memory, from);
  release(memory, to);
  return end_of_run(program);
}
