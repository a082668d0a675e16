/* The shallow-water equations on a periodic plane, after R. Sadourny, "The dynamics of finite-difference models of the
 * shallow-water equations" (1975): fourteen fields, eight parallel loops a step. See docs/workloads.md. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdsm/placement.h"
#include "workloads/options.h"
#include "workloads/result.h"
#include "workloads/team.h"

static const char program[] = "swim";

enum { max_size = 32768 };
static const double pi = 3.14159265358979323846;

/* Velocities and pressure, now, at the next and at the last step; mass fluxes, potential vorticity, height of energy,
 * stream function. Only the first three are the result. */
enum field { u, v, p, unew, vnew, pnew, uold, vold, pold, cu, cv, z, h, psi, fields };
static const char* const result_names[] = {"u", "v", "p"};
enum { results = 3 };

/* Fields that are closed together: velocities or fluxes along the rows and across them, a field between both (or
 * none: `fields`), and one at the points. */
struct staggered {
  enum field along, across, between, at;
};

/* Sums over the points without the repeated ones. */
struct sums {
  double pressure;
  double speed; /* of both velocities */
};

/* size x size points; the last row and column (in fields between the points, the first) repeat others. */
struct model {
  double* memory;
  long size;
  size_t stride; /* doubles from the begin of an array to that of the next one */
  double step_s; /* from the old fields to the new ones */
  struct staggered closed;
  struct parts sums; /* implementation 2: a struct sums of each thread */
};

static const double dx_m = 1e5;
static const double dy_m = 1e5;
static const double dt_s = 90;
static const double smoothing = 1e-3;

static size_t points(const struct model* m) {
  return (size_t)m->size * (size_t)m->size;
}

static inline double* row_of(const struct model* m, enum field field, long j) {
  return m->memory + (size_t)field * m->stride + j * m->size;
}

static struct model model_of(long size, size_t page_bytes) {
  struct model m = {.size = size};
  const size_t page_doubles = page_bytes / sizeof(double);
  m.stride = (points(&m) + page_doubles - 1) / page_doubles * page_doubles;
  return m;
}

/* Sets a wave of the stream function, and its velocities and pressure. */
static void initialise(const struct model* m) {
  const double amplitude = 1e6;
  const long n = m->size - 1;
  const double angle = 2 * pi / (double)n;
  const double length_m = (double)n * dx_m;
  const double height = pi * pi * amplitude * amplitude / (length_m * length_m);
  for (long j = 0; j <= n; ++j) {
    for (long i = 0; i <= n; ++i) {
      row_of(m, psi, j)[i] = amplitude * sin(((double)i + 0.5) * angle) * sin(((double)j + 0.5) * angle);
      row_of(m, p, j)[i] = height * (cos(2 * (double)i * angle) + cos(2 * (double)j * angle)) + 50000;
    }
  }
  // Row n + 1, and column n + 1, of psi would be row 1, and column 1.
  for (long j = 0; j <= n; ++j) {
    for (long i = 0; i <= n; ++i) {
      row_of(m, u, j)[i] = -(row_of(m, psi, j < n ? j + 1 : 1)[i] - row_of(m, psi, j)[i]) / dy_m;
      row_of(m, v, j)[i] = (row_of(m, psi, j)[i < n ? i + 1 : 1] - row_of(m, psi, j)[i]) / dx_m;
    }
  }
  for (int field = u; field <= p; ++field) {
    memcpy(row_of(m, (enum field)(uold + field), 0), row_of(m, (enum field)field, 0), points(m) * sizeof(double));
  }
  memset(row_of(m, unew, 0), 0, 3 * m->stride * sizeof(double));
  memset(row_of(m, cu, 0), 0, 4 * m->stride * sizeof(double));
}

/* One iteration of a loop. */
typedef void (*Body)(const struct model*, long);

static void fluxes(const struct model* m, long j) {
  const double *u0 = row_of(m, u, j), *u1 = row_of(m, u, j + 1), *v0 = row_of(m, v, j), *v1 = row_of(m, v, j + 1);
  const double *p0 = row_of(m, p, j), *p1 = row_of(m, p, j + 1);
  double *cu0 = row_of(m, cu, j), *cv1 = row_of(m, cv, j + 1), *z1 = row_of(m, z, j + 1), *h0 = row_of(m, h, j);
  for (long i = 0; i < m->size - 1; ++i) {
    cu0[i + 1] = 0.5 * (p0[i + 1] + p0[i]) * u0[i + 1];
    cv1[i] = 0.5 * (p1[i] + p0[i]) * v1[i];
    z1[i + 1] =
        (4 / dx_m * (v1[i + 1] - v1[i]) - 4 / dy_m * (u1[i + 1] - u0[i + 1])) / (p0[i] + p0[i + 1] + p1[i + 1] + p1[i]);
    h0[i] = p0[i] + 0.25 * (u0[i + 1] * u0[i + 1] + u0[i] * u0[i] + v1[i] * v1[i] + v0[i] * v0[i]);
  }
}

static void next(const struct model* m, long j) {
  const double *cu0 = row_of(m, cu, j), *cu1 = row_of(m, cu, j + 1), *cv0 = row_of(m, cv, j);
  const double *cv1 = row_of(m, cv, j + 1), *z0 = row_of(m, z, j), *z1 = row_of(m, z, j + 1);
  const double *h0 = row_of(m, h, j), *h1 = row_of(m, h, j + 1);
  const double *u_old = row_of(m, uold, j), *v_old = row_of(m, vold, j + 1), *p_old = row_of(m, pold, j);
  double *u_new = row_of(m, unew, j), *v_new = row_of(m, vnew, j + 1), *p_new = row_of(m, pnew, j);
  const double eighth = m->step_s / 8, over_dx = m->step_s / dx_m, over_dy = m->step_s / dy_m;
  for (long i = 0; i < m->size - 1; ++i) {
    u_new[i + 1] = u_old[i + 1] + eighth * (z1[i + 1] + z0[i + 1]) * (cv1[i + 1] + cv1[i] + cv0[i] + cv0[i + 1]) -
                   over_dx * (h0[i + 1] - h0[i]);
    v_new[i] = v_old[i] - eighth * (z1[i + 1] + z1[i]) * (cu1[i + 1] + cu1[i] + cu0[i] + cu0[i + 1]) -
               over_dy * (h1[i] - h0[i]);
    p_new[i] = p_old[i] - over_dx * (cu0[i + 1] - cu0[i]) - over_dy * (cv1[i] - cv0[i]);
  }
}

/* Copies a row's end from its other end: in fields between the points of a row the first from the last, in others the
 * last from the first. Fields between the rows have row j + 1 where the others have row j. */
static void close_row(const struct model* m, long j) {
  const struct staggered f = m->closed;
  const long n = m->size - 1;
  row_of(m, f.along, j)[0] = row_of(m, f.along, j)[n];
  row_of(m, f.across, j + 1)[n] = row_of(m, f.across, j + 1)[0];
  if (f.between != fields) row_of(m, f.between, j + 1)[0] = row_of(m, f.between, j + 1)[n];
  row_of(m, f.at, j)[n] = row_of(m, f.at, j)[0];
}

static void close_column(const struct model* m, long i) {
  const struct staggered f = m->closed;
  const long n = m->size - 1;
  row_of(m, f.along, n)[i + 1] = row_of(m, f.along, 0)[i + 1];
  row_of(m, f.across, 0)[i] = row_of(m, f.across, n)[i];
  if (f.between != fields) row_of(m, f.between, 0)[i + 1] = row_of(m, f.between, n)[i + 1];
  row_of(m, f.at, n)[i] = row_of(m, f.at, 0)[i];
}

static void close_corners(const struct model* m) {
  const struct staggered f = m->closed;
  const long n = m->size - 1;
  row_of(m, f.along, n)[0] = row_of(m, f.along, 0)[n];
  row_of(m, f.across, 0)[n] = row_of(m, f.across, n)[0];
  if (f.between != fields) row_of(m, f.between, 0)[0] = row_of(m, f.between, n)[n];
  row_of(m, f.at, n)[n] = row_of(m, f.at, 0)[0];
}

/* The fields become the old ones, smoothed over time, and the new ones the fields. */
static void advance(const struct model* m, long j) {
  for (int field = u; field <= p; ++field) {
    double* now = row_of(m, (enum field)field, j);
    double* old = row_of(m, (enum field)(uold + field), j);
    const double* new = row_of(m, (enum field)(unew + field), j);
    for (long i = 0; i < m->size; ++i) {
      old[i] = now[i] + smoothing * (new[i] - 2 * now[i] + old[i]);
      now[i] = new[i];
    }
  }
}

static struct sums sums_of_row(const struct model* m, long j) {
  struct sums sums = {0, 0};
  const double *u_new = row_of(m, unew, j), *v_new = row_of(m, vnew, j), *p_new = row_of(m, pnew, j);
  for (long i = 0; i < m->size - 1; ++i) {
    sums.pressure += p_new[i];
    sums.speed += fabs(u_new[i]) + fabs(v_new[i]);
  }
  return sums;
}

static void loop_alone(const struct model* m, Body body, long count) {
  for (long k = 0; k < count; ++k) body(m, k);
}

static void loop_shared(const struct model* shared, Body body, long count) {
  const struct model m = *shared;
#pragma omp parallel for schedule(static) default(none) firstprivate(m, body, count)
  for (long k = 0; k < count; ++k) body(&m, k);
}

static void add(struct sums* all, struct sums more) {
  all->pressure += more.pressure;
  all->speed += more.speed;
}

static struct sums sum_alone(const struct model* m) {
  struct sums all = {0, 0};
  for (long j = 0; j < m->size - 1; ++j) add(&all, sums_of_row(m, j));
  return all;
}

static struct sums* sums_of(const struct model* m, int thread) {
  return (struct sums*)(m->sums.memory + (size_t)thread * m->sums.part_bytes);
}

static struct sums sum_shared(const struct model* shared) {
  const struct model m = *shared;
  double pressure = 0;
  double speed = 0;
#pragma omp parallel for schedule(static) default(none) firstprivate(m) reduction(+ : pressure, speed)
  for (long j = 0; j < m.size - 1; ++j) {
    const struct sums row = sums_of_row(&m, j);
    pressure += row.pressure;
    speed += row.speed;
  }
  return (struct sums){pressure, speed};
}

/* Reduces without a lock, which would end an interval on software shared memory: each thread's sums lie on a page of
 * its own, and the initial thread adds them. */
static struct sums sum_by_thread(const struct model* shared) {
  const struct model m = *shared;
  int threads = 0;
#pragma omp parallel default(none) firstprivate(m) shared(threads)
  {
    struct sums own = {0, 0};
#pragma omp for schedule(static) nowait
    for (long j = 0; j < m.size - 1; ++j) add(&own, sums_of_row(&m, j));
    *sums_of(&m, omp_get_thread_num()) = own;
    if (omp_get_thread_num() == 0) threads = omp_get_num_threads();
  }
  struct sums all = {0, 0};
  for (int t = 0; t < threads; ++t) add(&all, *sums_of(&m, t));
  return all;
}

static const struct implementation {
  void (*loop)(const struct model*, Body, long count);
  struct sums (*sum)(const struct model*);
} implementations[] = {{loop_alone, sum_alone}, {loop_shared, sum_shared}, {loop_shared, sum_by_thread}};

static void close_fields(const struct model* m, const struct implementation* by) {
  by->loop(m, close_row, m->size - 1);
  by->loop(m, close_column, m->size - 1);
  close_corners(m);
}

/* Steps from the initial fields on. Returns the sums of the last step. `ends` receives the steps' end times, unless it
 * is NULL. */
static struct sums solve(struct model m, const struct implementation* by, long iterations, double* ends) {
  struct sums sums = {0, 0};
  for (long k = 0; k < iterations; ++k) {
    m.step_s = k == 0 ? dt_s : 2 * dt_s;  // the first old fields are those of the beginning
    by->loop(&m, fluxes, m.size - 1);
    m.closed = (struct staggered){cu, cv, z, h};
    close_fields(&m, by);
    by->loop(&m, next, m.size - 1);
    m.closed = (struct staggered){unew, vnew, fields, pnew};
    close_fields(&m, by);
    sums = by->sum(&m);
    by->loop(&m, advance, m.size);
    if (ends) ends[k] = omp_get_wtime();
  }
  return sums;
}

static size_t bytes_of(const struct model* m) {
  return fields * m->stride * sizeof(double);
}

static void check_sum(const char* name, double found, double expected) {
  if (!(fabs(found - expected) <= 1e-11 * expected)) {
    stop(status_failed, program, "check failed: the sum of %s is %.17g where it should be %.17g", name, found,
         expected);
  }
}

/* Compares with fields that this thread computes alone, and the pressures' sum with that of the beginning, which no
 * step changes. Ends the program (exit status 1) if they differ. */
static void check(const struct model* result, struct sums sums, long iterations) {
  struct model m = *result;
  m.memory = malloc(bytes_of(&m));
  if (!m.memory) stop(status_failed, program, "no memory for fields to compare with (%zu bytes)", bytes_of(&m));
  initialise(&m);
  if (iterations > 0) {
    double pressure = 0;
    for (long j = 0; j < m.size - 1; ++j) {
      for (long i = 0; i < m.size - 1; ++i) pressure += row_of(&m, p, j)[i];
    }
    const struct sums expected = solve(m, &implementations[0], iterations, NULL);
    check_sum("the pressures", sums.pressure, pressure);
    check_sum("the speeds", sums.speed, expected.speed);
  }
  for (int field = u; field <= p; ++field) {
    const double* found = row_of(result, (enum field)field, 0);
    const double* expected = row_of(&m, (enum field)field, 0);
    for (size_t at = 0; at < points(&m); ++at) {
      if (memcmp(&found[at], &expected[at], sizeof *found) != 0) {
        stop(status_failed, program, "check failed: %s in row %zu, column %zu is %.17g where it is %.17g sequentially",
             result_names[field], at / (size_t)m.size, at % (size_t)m.size, found[at], expected[at]);
      }
    }
  }
  printf("check: identical to the sequential fields\n");
  free(m.memory);
}

/* Hands over all results in a row. */
static void hand_over_results(const struct model* m, const struct run_options* run) {
  const size_t bytes = points(m) * sizeof(double);
  if (m->stride == points(m)) {
    hand_over(program, run, m->memory, results * bytes);
    return;
  }
  double* const together = malloc(results * bytes);
  if (!together) stop(status_failed, program, "no memory for the results (%zu bytes)", results * bytes);
  for (int field = 0; field < results; ++field) {
    memcpy(together + (size_t)field * points(m), row_of(m, (enum field)field, 0), bytes);
  }
  hand_over(program, run, together, results * bytes);
  free(together);
}

struct options {
  struct run_options run;
  long size;
  long page_bytes;
  long iterations;
  int steps;
};

static void print_help(void) {
  printf(
      "usage: swim [--impl N] [--size N] [--iterations N] [--apart N] [--steps] [--no-check] [--hash] [--output FILE]\n"
      "\n"
      "The shallow-water equations on a periodic plane: velocities and pressure of a wave, by fourteen arrays in one\n"
      "piece of memory. Threads: OMP_NUM_THREADS.\n"
      "\n"
      "  --impl N        0 sequential, 1 parallel: eight regions a step, pages in equal parts (default 1), 2 the same, "
      "but\n"
      "                  the sums by thread and without a lock\n"
      "  --size N        rows and columns of each array, 3 to %d (default 250; SPEC's train data: 3802)\n"
      "  --iterations N  time steps (default 30; SPEC's train data: 300)\n"
      "  --apart N       each array begins on a page of N bytes of its own, as where each is allocated for itself\n"
      "                  (default: one behind the other, as by centralised allocation)\n"
      "  --steps         read the clock after each step, and print when it ended\n"
      "  --no-check      do not compare with the sequential fields afterwards\n"
      "  --hash          print a hash of the result, to compare runs\n"
      "  --output FILE   write the result to FILE: u, v and p, each of size x size doubles, as they are in memory\n"
      "\n"
      "Prints the time of the steps alone. Exit status: 0 done, 1 the check or the run failed, 2 bad usage.\n"
      "\n"
      "Try: OMP_NUM_THREADS=4 swim --size 1000 --iterations 10\n",
      max_size);
}

static long page_option(const char* text) {
  const long bytes = integer_option(program, "--apart", text, 4096, 65536);
  if ((bytes & (bytes - 1)) == 0) return bytes;
  stop(status_bad_input, program, "--apart '%s' is no page: give 4096, 8192, 16384, 32768 or 65536", text);
}

static struct options read_options(int argc, char** argv) {
  enum { opt_size = 1, opt_iterations, opt_apart, opt_steps };
  static const struct option known[] = {
      {"size", required_argument, NULL, opt_size},
      {"iterations", required_argument, NULL, opt_iterations},
      {"apart", required_argument, NULL, opt_apart},
      {"steps", no_argument, NULL, opt_steps},
      RUN_OPTION_ROWS,
  };
  struct options options = {
      .run = {.implementation = 1, .check = 1}, .size = 250, .page_bytes = sizeof(double), .iterations = 30};
  argv[0] = (char*)program;  // getopt's messages begin with it
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (option) {
      case opt_size: options.size = integer_option(program, "--size", optarg, 3, max_size); break;
      case opt_iterations: options.iterations = integer_option(program, "--iterations", optarg, 0, 1000000000); break;
      case opt_apart: options.page_bytes = page_option(optarg); break;
      case opt_steps: options.steps = 1; break;
      default: read_run_option(program, option, 3, print_help, &options.run);
    }
  }
  refuse_arguments(program, argc, argv);
  return options;
}

int main(int argc, char** argv) {
  const struct options options = read_options(argc, argv);
  const int threads = options.run.implementation == 0 ? 1 : omp_get_max_threads();
  printf("swim: %ld x %ld, %ld iterations, %d thread%s\n", options.size, options.size, options.iterations, threads,
         threads == 1 ? "" : "s");

  struct model m = model_of(options.size, (size_t)options.page_bytes);
  m.memory = (double*)allocate_parts(program, threads, (bytes_of(&m) + (size_t)threads - 1) / (size_t)threads).memory;
  enum { largest_page = 65536 };
  if (options.run.implementation == 2) m.sums = allocate_parts(program, threads, largest_page);
  double* const ends = options.steps ? malloc(((size_t)options.iterations + 1) * sizeof(double)) : NULL;
  if (options.steps && !ends) stop(status_failed, program, "no memory for the ends of %ld steps", options.iterations);
  initialise(&m);
  start_threads();
  const double begin = omp_get_wtime();
  const struct sums sums = solve(m, &implementations[options.run.implementation], options.iterations, ends);
  const double end = omp_get_wtime();
  for (long k = 0; ends && k < options.iterations; ++k) printf("step %ld: %.6f s\n", k + 1, ends[k] - begin);
  printf("time: %.6f s\n", end - begin);
  free(ends);

  hand_over_results(&m, &options.run);
  if (options.run.check) check(&m, sums, options.iterations);
  if (m.sums.memory) sdsm_gfree(m.sums.memory);
  sdsm_gfree(m.memory);
  return end_of_run(program);
}
