/* The 1D FFT kernel of H.J. Wong and A.P. Rendell, "Optimizing Performance for SCore Cluster Enabled OpenMP
 * Applications" (2005): decimation in time over two arrays that exchange roles, in seven implementations.
 * See docs/workloads.md. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sdsm/divide.h"
#include "sdsm/placement.h"
#include "workloads/options.h"
#include "workloads/result.h"
#include "workloads/team.h"

static const char program[] = "fft";

enum {
  max_levels = 30,           /* 2^30 points are 16 GiB per array */
  max_direct_points = 4096,  /* the direct transform takes points^2 steps */
  exact_root_distance = 256, /* see power_of_root */
};
static const double check_tolerance = 1e-12;

typedef struct {
  double re;
  double im;
} Complex;

/* Plain products and sums: C's own complex type would test each product for infinities. */
static inline Complex add(Complex a, Complex b) {
  return (Complex){a.re + b.re, a.im + b.im};
}
static inline Complex subtract(Complex a, Complex b) {
  return (Complex){a.re - b.re, a.im - b.im};
}
static inline Complex multiply(Complex a, Complex b) {
  return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* exp(-2 pi i j / n), with quarter turns exact. Precondition: 0 <= j < n, n a power of two (so that j / n is exact). */
static Complex root_of_unity(long n, long j) {
  const double quarters = 4 * ((double)j / (double)n);
  const double whole = floor(quarters);
  const double angle = 1.57079632679489661923 * (quarters - whole);
  const double c = cos(angle);
  const double s = sin(angle);
  switch ((int)whole) {
    case 0: return (Complex){c, -s};
    case 1: return (Complex){-s, -c};
    case 2: return (Complex){-c, s};
    default: return (Complex){s, c};
  }
}

/* One thread's plan. It lies on the thread's own stack, so that looking up a root never touches shared memory.
 */
struct plan {
  size_t cache_bytes;           /* transforms of fewer bytes are done in place */
  Complex root[max_levels + 1]; /* root[k] = exp(-2 pi i / 2^k) */
};

static struct plan make_plan(size_t cache_bytes) {
  struct plan plan;
  plan.cache_bytes = cache_bytes;
  plan.root[0] = (Complex){1, 0};
  for (int level = 1; level <= max_levels; ++level) plan.root[level] = root_of_unity(1L << level, 1);
  return plan;
}

static int level_of(long n) {
  return __builtin_ctzl((unsigned long)n);
}

/* The j-th power of w, the principal n-th root. A loop takes its powers one from another, w^(j+1) = w w^j, and starts
 * anew from here at each multiple of exact_root_distance: at 2^19 points an unbroken product would be off by some 1e-11
 * at its end, one of 256 factors by some 1e-14. Between the multiples this multiplies like the loop, so a power has the
 * same bits whichever thread's share it begins. */
static Complex power_of_root(Complex w, long n, long j) {
  const long exact = j - j % exact_root_distance;
  Complex power = exact == 0 ? (Complex){1, 0} : root_of_unity(n, exact);
  for (long k = exact; k < j; ++k) power = multiply(power, w);
  return power;
}

static inline Complex next_power(Complex power, Complex w, long n, long next) {
  return next % exact_root_distance == 0 && next < n ? root_of_unity(n, next) : multiply(power, w);
}

/* T[begin .. end) := even elements of S; T[n/2 + begin .. n/2 + end) := odd elements. */
static void split(const Complex* s, Complex* t, long n, long begin, long end) {
  for (long j = begin; j < end; ++j) {
    t[j] = s[2 * j];
    t[j + n / 2] = s[2 * j + 1];
  }
}

/* S[begin .. end) of the transform of n points from the transforms of its halves in T. */
static void combine(const struct plan* plan, Complex* s, const Complex* t, long n, long begin, long end) {
  const Complex w = plan->root[level_of(n)];
  const long half = n / 2;
  Complex power = power_of_root(w, n, begin);
  for (long j = begin; j < end; ++j) {
    const long k = j & (half - 1);  // j mod n/2
    s[j] = add(t[k], multiply(power, t[k + half]));
    power = next_power(power, w, n, j + 1);
  }
}

static void swap_bit_reversed(Complex* s, long n) {
  for (long i = 1, reversed = 0; i < n; ++i) {
    long bit = n / 2;
    for (; reversed & bit; bit /= 2) reversed -= bit;
    reversed += bit;
    if (i < reversed) {
      const Complex kept = s[i];
      s[i] = s[reversed];
      s[reversed] = kept;
    }
  }
}

/* The transform in place: fastest where all of S is in cache. */
static void iterative(const struct plan* plan, Complex* s, long n) {
  swap_bit_reversed(s, n);
  for (long points = 2; points <= n; points *= 2) {
    const Complex w = plan->root[level_of(points)];
    const long half = points / 2;
    Complex power = {1, 0};
    for (long j = 0; j < half; ++j) {
      for (long k = j; k < n; k += points) {
        const Complex odd = multiply(power, s[k + half]);
        s[k + half] = subtract(s[k], odd);
        s[k] = add(s[k], odd);
      }
      power = next_power(power, w, points, j + 1);
    }
  }
}

/* Recursive while the points exceed the cache (out of cache that is faster), iterative below. Result in S. */
static void hybrid(const struct plan* plan, Complex* s, Complex* t, long n) {
  if (n == 1) return;
  if ((size_t)n * sizeof *s < plan->cache_bytes) {
    iterative(plan, s, n);
    return;
  }
  split(s, t, n, 0, n / 2);
  hybrid(plan, t, s, n / 2);
  hybrid(plan, t + n / 2, s + n / 2, n / 2);
  combine(plan, s, t, n, 0, n);
}

/* The transform by a gang of g threads, g a power of two that is at most n; below it, gangs of half the size do half
 * the points each. OpenMP has no barrier for part of a team: all gangs of a level meet at the team's, which works
 * because all are equally deep. A thread whose gang is down to one calls `alone`. */
static void transform_in_gangs(const struct plan* plan, Complex* s, Complex* t, long n, int gang,
                               void (*alone)(const struct plan*, Complex*, Complex*, long)) {
  if (gang == 1) {
    alone(plan, s, t, n);
    return;
  }
  const long half = n / 2;
  const long rank = omp_get_thread_num() % gang;
  split(s, t, n, half * rank / gang, half * (rank + 1) / gang);
#pragma omp barrier
  if (rank < gang / 2) {
    transform_in_gangs(plan, t, s, half, gang / 2, alone);
  } else {
    transform_in_gangs(plan, t + half, s + half, half, gang / 2, alone);
  }
#pragma omp barrier
  combine(plan, s, t, n, n / gang * rank, n / gang * (rank + 1));
}

/* The same transform with a barrier and loops of each gang. */
static void transform_in_divided_gangs(const struct plan* plan, Complex* s, Complex* t, long n) {
  if (sdsm_get_num_threads() == 1) {
    hybrid(plan, s, t, n);
    return;
  }
  const long half = n / 2;
  const struct sdsm_rows to_split = sdsm_for_begin(0, half);
  split(s, t, n, to_split.begin, to_split.end);
  sdsm_for_end();
  SDSM_DIVIDE(sdsm_by_block, 2, 1) {
    const long other = sdsm_get_gang_num() * half;
    transform_in_divided_gangs(plan, t + other, s + other, half);
  }
  const struct sdsm_rows to_combine = sdsm_for_begin(0, n);
  combine(plan, s, t, n, to_combine.begin, to_combine.end);
  sdsm_for_end_nowait();
}

/* The gangs' scheme with one thread: recursive down to single points. */
static void recursive(const struct plan* plan, Complex* s, Complex* t, long n) {
  if (n == 1) return;
  split(s, t, n, 0, n / 2);
  recursive(plan, t, s, n / 2);
  recursive(plan, t + n / 2, s + n / 2, n / 2);
  combine(plan, s, t, n, 0, n);
}

typedef void (*Transform)(size_t cache_bytes, Complex* s, Complex* t, long n);

static void transform_sequential(size_t cache_bytes, Complex* s, Complex* t, long n) {
  const struct plan plan = make_plan(cache_bytes);
  hybrid(&plan, s, t, n);
}

static void transform_recursive(size_t cache_bytes, Complex* s, Complex* t, long n) {
#pragma omp parallel default(none) firstprivate(cache_bytes, s, t, n)
  {
    const struct plan plan = make_plan(cache_bytes);
    transform_in_gangs(&plan, s, t, n, omp_get_num_threads(), recursive);
  }
}

static void transform_hybrid(size_t cache_bytes, Complex* s, Complex* t, long n) {
#pragma omp parallel default(none) firstprivate(cache_bytes, s, t, n)
  {
    const struct plan plan = make_plan(cache_bytes);
    transform_in_gangs(&plan, s, t, n, omp_get_num_threads(), hybrid);
  }
}

static void transform_divided(size_t cache_bytes, Complex* s, Complex* t, long n) {
#pragma omp parallel default(none) firstprivate(cache_bytes, s, t, n)
  {
    const struct plan plan = make_plan(cache_bytes);
    transform_in_divided_gangs(&plan, s, t, n);
  }
}

static const struct {
  const char* name;
  Transform transform;
  enum sdsm_distribution distribution;
} implementations[] = {
    {"sequential hybrid", transform_sequential, sdsm_round_robin},
    {"parallel, recursive", transform_recursive, sdsm_round_robin},
    {"parallel, hybrid", transform_hybrid, sdsm_round_robin},
    {"parallel, recursive, block placement", transform_recursive, sdsm_block},
    {"parallel, hybrid, block placement", transform_hybrid, sdsm_block},
    {"divided, hybrid", transform_divided, sdsm_round_robin},
    {"divided, hybrid, block placement", transform_divided, sdsm_block},
};
enum { implementation_count = sizeof implementations / sizeof implementations[0] };

struct options {
  struct run_options run;
  long points;
  long cache_bytes;
};

/* Pseudo-random reals in [0, 1), the same in every run. */
static void initialise(Complex* s, long n) {
  uint64_t state = 20050522;
  for (long j = 0; j < n; ++j) {
    // Multiplier and increment: D.E. Knuth, MMIX.
    state = state * 6364136223846793005u + 1442695040888963407u;
    s[j] = (Complex){(double)(state >> 11) * 0x1p-53, 0};
  }
}

static Complex* allocate(enum sdsm_distribution distribution, long n) {
  const size_t bytes = (size_t)n * sizeof(Complex);
  Complex* array = distribution == sdsm_block ? sdsm_galloc(bytes, sdsm_block) : malloc(bytes);
  if (!array) stop(status_failed, program, "no memory for an array of %ld points (%zu bytes)", n, bytes);
  return array;
}

static void release(enum sdsm_distribution distribution, Complex* array) {
  if (distribution == sdsm_block) {
    sdsm_gfree(array);
  } else {
    free(array);
  }
}

/* Returns the largest difference over the largest magnitude in `expected`; NaN if any value is NaN. */
static double relative_difference(const Complex* found, const Complex* expected, long n) {
  double difference = 0;
  double scale = 0;
  for (long j = 0; j < n; ++j) {
    const double distance = hypot(found[j].re - expected[j].re, found[j].im - expected[j].im);
    if (isnan(distance)) return distance;
    difference = fmax(difference, distance);
    scale = fmax(scale, hypot(expected[j].re, expected[j].im));
  }
  return scale > 0 ? difference / scale : difference;
}

static void report_check(const char* against, double difference) {
  if (!(difference <= check_tolerance)) {
    stop(status_failed, program, "check failed: differs from %s by %.2g of the largest value (allowed: %.0e)", against,
         difference, check_tolerance);
  }
  printf("check: within %.1e of %s\n", difference, against);
}

/* Computes the sum that defines the transform, for each point. */
static void direct_transform(const Complex* input, Complex* output, long n) {
  Complex* root = allocate(sdsm_round_robin, n);
  for (long j = 0; j < n; ++j) root[j] = root_of_unity(n, j);
  for (long k = 0; k < n; ++k) {
    Complex sum = {0, 0};
    for (long j = 0; j < n; ++j) sum = add(sum, multiply(root[j * k % n], input[j]));
    output[k] = sum;
  }
  free(root);
}

/* Transforms the result back (conjugate, transform, conjugate, divide by n) and compares with the input; compares small
 * results with the direct transform too. Ends the program (exit status 1) where they differ. */
static void check(const Complex* result, const struct options* options) {
  const long n = options->points;
  Complex* input = allocate(sdsm_round_robin, n);
  Complex* back = allocate(sdsm_round_robin, n);
  Complex* work = allocate(sdsm_round_robin, n);
  initialise(input, n);
  for (long j = 0; j < n; ++j) back[j] = (Complex){result[j].re, -result[j].im};
  transform_sequential((size_t)options->cache_bytes, back, work, n);
  for (long j = 0; j < n; ++j) back[j] = (Complex){back[j].re / (double)n, -back[j].im / (double)n};
  report_check("the input, transformed back", relative_difference(back, input, n));
  if (n <= max_direct_points) {
    direct_transform(input, work, n);
    report_check("the direct transform", relative_difference(result, work, n));
  }
  free(input);
  free(back);
  free(work);
}

static void print_help(void) {
  printf(
      "usage: fft [--impl N] [--points N] [--cache-bytes SIZE] [--no-check] [--hash] [--output FILE]\n"
      "\n"
      "The discrete Fourier transform of pseudo-random reals. Even and odd points are split, transformed by half of "
      "the\n"
      "threads each, and combined. Threads: OMP_NUM_THREADS, a power of two that is at most the number of points.\n"
      "\n"
      "  --impl N            how it is done (default 4):\n"
      "                        0  sequential hybrid: recursive out of cache, iterative in cache\n"
      "                        1  parallel, recursive down to single points, pages placed round-robin\n"
      "                        2  1, with each thread using 0 once it works alone\n"
      "                        3  1 with pages placed by blocks\n"
      "                        4  2 with pages placed by blocks\n"
      "                        5  2 with barriers of the threads that share a part alone\n"
      "                        6  5 with pages placed by blocks\n"
      "  --points N          a power of two up to 2^%d, written 524288 or 2^19 (default 2^19)\n"
      "  --cache-bytes SIZE  transforms smaller than this are done in place (0, 2 and 4; default 512KiB)\n"
      "  --no-check          do not transform back afterwards\n"
      "  --hash              print a hash of the result, to compare runs\n"
      "  --output FILE       write the result to FILE: real and imaginary parts as doubles, as they are in memory\n"
      "\n"
      "Prints the time of the transform alone. Exit status: 0 done, 1 the check or the run failed, 2 bad usage.\n"
      "\n"
      "Try: OMP_NUM_THREADS=4 fft --impl 4 --points 2^19\n",
      max_levels);
}

static struct options read_options(int argc, char** argv) {
  enum { opt_points = 1, opt_cache_bytes };
  static const struct option known[] = {
      {"points", required_argument, NULL, opt_points},
      {"cache-bytes", required_argument, NULL, opt_cache_bytes},
      RUN_OPTION_ROWS,
  };
  struct options options = {.run = {.implementation = 4, .check = 1}, .points = 1L << 19, .cache_bytes = 512L << 10};
  argv[0] = (char*)program;  // getopt's messages begin with it
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (option) {
      case opt_points:
        options.points = integer_option(program, "--points", optarg, 1, 1L << max_levels);
        if ((options.points & (options.points - 1)) != 0) {
          stop(status_bad_input, program, "--points %ld is not a power of two", options.points);
        }
        break;
      case opt_cache_bytes: options.cache_bytes = bytes_option(program, "--cache-bytes", optarg); break;
      default: read_run_option(program, option, implementation_count, print_help, &options.run);
    }
  }
  refuse_arguments(program, argc, argv);
  return options;
}

/* Returns the team size; ends the program (exit status 2) if the points cannot be divided among its threads. */
static int team_size(const struct options* options) {
  if (options->run.implementation == 0) return 1;
  omp_set_dynamic(0);
  const int asked = omp_get_max_threads();
  const int limit = omp_get_thread_limit();
  const int threads = asked < limit ? asked : limit;
  if ((threads & (threads - 1)) != 0) {
    stop(status_bad_input, program,
         "%d threads: the points are halved among halves of the team, so their number must be a power of two "
         "(OMP_NUM_THREADS)",
         threads);
  }
  if (threads > options->points) {
    stop(status_bad_input, program, "%d threads are too many for %ld point%s (OMP_NUM_THREADS, --points)", threads,
         options->points, options->points == 1 ? "" : "s");
  }
  return threads;
}

int main(int argc, char** argv) {
  const struct options options = read_options(argc, argv);
  const enum sdsm_distribution distribution = implementations[options.run.implementation].distribution;
  const long n = options.points;
  const int threads = team_size(&options);
  printf("fft: implementation %d (%s), %ld point%s, %d thread%s\n", options.run.implementation,
         implementations[options.run.implementation].name, n, n == 1 ? "" : "s", threads, threads == 1 ? "" : "s");

  Complex* s = allocate(distribution, n);
  Complex* t = allocate(distribution, n);
  initialise(s, n);
  for (long j = 0; j < n; ++j) t[j] = (Complex){0, 0};
  start_threads();
  const double begin = omp_get_wtime();
  implementations[options.run.implementation].transform((size_t)options.cache_bytes, s, t, n);
  const double end = omp_get_wtime();
  printf("time: %.6f s\n", end - begin);

  const size_t bytes = (size_t)n * sizeof *s;
  hand_over(program, &options.run, s, bytes);
  if (options.run.check) check(s, &options);
  release(distribution, s);
  release(distribution, t);
  return end_of_run(program);
}
