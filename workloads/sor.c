/* Temperatures by red-black relaxation, after JIAJIA's program of this name: rows, pages, homes and barriers are the
 * same. See docs/workloads.md. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdsm/placement.h"
#include "workloads/options.h"
#include "workloads/result.h"
#include "workloads/team.h"

static const char program[] = "sor";

/* Points whose row and column numbers have an even sum are red, the others black. */
enum colour { red, black, colours };

/* A plate; each colour's rows lie in pages of their own. */
struct plate {
  long rows;    /* with the first and the last, which are fixed */
  long columns; /* even, with the first and the last, which are fixed */
  int threads;  /* that have rows at home */
  size_t row_bytes;
  struct parts points[colours];
};

/* Number of adjacent rows that share a home. The last rows / threads * threads + 1 .. rows - 1, if there
 * are any, are at home with the first thread. */
static long rows_together(long rows, int threads) {
  return rows < threads ? 1 : rows / threads;
}

static struct plate make_plate(long rows, long columns, int threads) {
  const long together = rows_together(rows, threads);
  const long groups = (rows - 1) / together + 1;
  const size_t floats = (size_t)columns / 2 * sizeof(float);
  struct plate plate = {
      .rows = rows,
      .columns = columns,
      .threads = threads,
      .row_bytes = (floats + SDSM_PAGE_BYTES - 1) / SDSM_PAGE_BYTES * SDSM_PAGE_BYTES,
  };
  const size_t part_bytes = (size_t)((groups - 1) / threads + 1) * (size_t)together * plate.row_bytes;
  for (int colour = 0; colour < colours; ++colour) {
    plate.points[colour] = allocate_parts(program, threads, part_bytes);
  }
  return plate;
}

static void release(const struct plate* plate) {
  for (int colour = 0; colour < colours; ++colour) sdsm_gfree(plate->points[colour].memory);
}

static float* row_of(const struct plate* plate, enum colour colour, long row) {
  const long together = rows_together(plate->rows, plate->threads);
  const long group = row / together;
  const long at = group / plate->threads * together + row % together;
  const struct parts* points = &plate->points[colour];
  return (float*)(points->memory + (size_t)(group % plate->threads) * points->part_bytes +
                  (size_t)at * plate->row_bytes);
}

static void initialise(const struct plate* plate) {
  for (long row = 0; row < plate->rows; ++row) {
    for (int colour = black; colour >= red; --colour) {
      float* points = row_of(plate, (enum colour)colour, row);
      for (long k = 0; k < plate->columns / 2; ++k) points[k] = row == 0 ? 100.0F : 0.0F;
    }
  }
}

/* Computes rows begin .. end - 1 of a colour from the other: every point that is not fixed becomes the mean of its
 * four neighbours. */
static void relax(const struct plate* plate, enum colour colour, long begin, long end) {
  const enum colour other = colour == red ? black : red;
  for (long row = begin < 1 ? 1 : begin; row < end && row < plate->rows - 1; ++row) {
    const float* above = row_of(plate, other, row - 1);
    const float* below = row_of(plate, other, row + 1);
    const float* beside = row_of(plate, other, row);
    float* to = row_of(plate, colour, row);
    // The k-th point of a row's first colour has neighbours at k - 1 and k, that of its second at k and k + 1.
    const long second = (row % 2 == 0) == (colour == black);
    for (long k = 1 - second; k < plate->columns / 2 - second; ++k) {
      to[k] = 0.25F * (above[k] + below[k] + beside[k - 1 + second] + beside[k + second]);
    }
  }
}

static void solve_sequential(const struct plate* plate, long iterations) {
  for (long k = 0; k < iterations; ++k) {
    relax(plate, black, 0, plate->rows);
    relax(plate, red, 0, plate->rows);
  }
}

static void solve_parallel(const struct plate* shared, long iterations) {
  const struct plate plate = *shared;
#pragma omp parallel default(none) firstprivate(plate, iterations)
  {
    const int thread = omp_get_thread_num();
    const int threads = omp_get_num_threads();
    const long begin = share_begin(plate.rows, thread, threads);
    const long end = share_begin(plate.rows, thread + 1, threads);
    for (long k = 0; k < iterations; ++k) {
      relax(&plate, black, begin, end);
#pragma omp barrier
      relax(&plate, red, begin, end);
#pragma omp barrier
    }
  }
}

/* The plate as one array, row by row, in memory that free() takes. */
static float* gather(const struct plate* plate) {
  float* all = malloc((size_t)plate->rows * (size_t)plate->columns * sizeof *all);
  if (!all) stop(status_failed, program, "no memory for a plate of %ld x %ld", plate->rows, plate->columns);
  for (long row = 0; row < plate->rows; ++row) {
    for (int colour = 0; colour < colours; ++colour) {
      const float* points = row_of(plate, (enum colour)colour, row);
      float* to = all + row * plate->columns + (row % 2 == 0 ? colour : 1 - colour);
      for (long k = 0; k < plate->columns / 2; ++k) to[2 * k] = points[k];
    }
  }
  return all;
}

/* Compares with a plate that this thread computes alone. Ends the program (exit status 1) if they differ. */
static void check(const float* result, long rows, long columns, long iterations) {
  const struct plate plate = make_plate(rows, columns, 1);
  initialise(&plate);
  solve_sequential(&plate, iterations);
  float* expected = gather(&plate);
  for (long at = 0; at < rows * columns; ++at) {
    if (memcmp(&result[at], &expected[at], sizeof *result) != 0) {
      stop(status_failed, program, "check failed: row %ld, column %ld is %.9g where the sequential plate has %.9g",
           at / columns, at % columns, (double)result[at], (double)expected[at]);
    }
  }
  printf("check: identical to the sequential plate\n");
  free(expected);
  release(&plate);
}

struct options {
  struct run_options run;
  long rows;
  long columns;
  long iterations;
};

static void print_help(void) {
  printf(
      "usage: sor [--impl N] [--rows N] [--columns N] [--iterations N] [--no-check] [--hash] [--output FILE]\n"
      "\n"
      "Temperatures on a plate whose edges are held fixed, the first row at 100 degrees and the others at 0, by\n"
      "relaxation of its black points from the red ones, then of the red from the black. Threads: OMP_NUM_THREADS.\n"
      "\n"
      "  --impl N        0 sequential, 1 parallel: rows in equal parts, at home with their threads (default 1)\n"
      "  --rows N        with the edges, 3 to 65536 (default 256)\n"
      "  --columns N     with the edges, an even number from 4 to 65536 (default 2048)\n"
      "  --iterations N  steps of both colours (default 100)\n"
      "  --no-check      do not compare with the sequential plate afterwards\n"
      "  --hash          print a hash of the plate, to compare runs\n"
      "  --output FILE   write the plate to FILE: rows x columns floats, row by row, as they are in memory\n"
      "\n"
      "Prints the time of the iterations alone. Exit status: 0 done, 1 the check or the run failed, 2 bad usage.\n"
      "\n"
      "Try: OMP_NUM_THREADS=4 sor --rows 256 --columns 2048 --iterations 100\n");
}

static struct options read_options(int argc, char** argv) {
  enum { opt_rows = 1, opt_columns, opt_iterations };
  static const struct option known[] = {
      {"rows", required_argument, NULL, opt_rows},
      {"columns", required_argument, NULL, opt_columns},
      {"iterations", required_argument, NULL, opt_iterations},
      RUN_OPTION_ROWS,
  };
  struct options options = {.run = {.implementation = 1, .check = 1}, .rows = 256, .columns = 2048, .iterations = 100};
  argv[0] = (char*)program;  // getopt's messages begin with it
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (option) {
      case opt_rows: options.rows = integer_option(program, "--rows", optarg, 3, 65536); break;
      case opt_columns: options.columns = integer_option(program, "--columns", optarg, 4, 65536); break;
      case opt_iterations: options.iterations = integer_option(program, "--iterations", optarg, 0, 1000000000); break;
      default: read_run_option(program, option, 2, print_help, &options.run);
    }
  }
  refuse_arguments(program, argc, argv);
  if (options.columns % 2 != 0) {
    stop(status_bad_input, program, "--columns %ld is odd: each row has as many red points as black ones",
         options.columns);
  }
  return options;
}

int main(int argc, char** argv) {
  const struct options options = read_options(argc, argv);
  const int threads = options.run.implementation == 0 ? 1 : omp_get_max_threads();
  printf("sor: %ld x %ld, %ld iterations, %d thread%s\n", options.rows, options.columns, options.iterations, threads,
         threads == 1 ? "" : "s");

  const struct plate plate = make_plate(options.rows, options.columns, threads);
  initialise(&plate);
  start_threads();
  const double begin = omp_get_wtime();
  (options.run.implementation == 0 ? solve_sequential : solve_parallel)(&plate, options.iterations);
  const double end = omp_get_wtime();
  printf("time: %.6f s\n", end - begin);

  if (wants_result(&options.run)) {
    float* result = gather(&plate);
    hand_over(program, &options.run, result, (size_t)options.rows * (size_t)options.columns * sizeof *result);
    if (options.run.check) check(result, options.rows, options.columns, options.iterations);
    free(result);
  }
  release(&plate);
  return end_of_run(program);
}
