/* What OpenMP's synchronisation costs, after the description of EPCC's microbenchmarks (docs/workloads.md): the time of
 * a delay under a directive, less that of the same delay in sequential code. Its output has version 2's format. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/options.h"
#include "workloads/result.h"

static const char program[] = "epcc";

/* Each thread's own: what the timed loops read. A shared variable would cost a page fault after each barrier, and
 * so would arguments of a parallel region, which lie on the initial thread's stack. */
static struct {
  int repetitions; /* in a sample, of all threads together */
  int share;       /* of them for each thread, where one thread does a repetition */
  int delay;       /* additions of the delay */
  int threads;
} own;
#pragma omp threadprivate(own)

static omp_lock_t lock;
static double total;

static void delay(void) {
  double sum = 0;
  for (int i = 0; i < own.delay; ++i) {
    sum += i;
    __asm__ volatile("" : "+x"(sum)); /* keeps each addition */
  }
}

static void reference_delay(void) {
  for (int k = 0; k < own.repetitions; ++k) delay();
}

static void reference_atomic(void) {
  for (int k = 0; k < own.repetitions; ++k) {
    total += 1;
    __asm__ volatile("" ::: "memory");
  }
}

static void reference_reduction(void) {
  for (int k = 0; k < own.repetitions; ++k) {
    delay();
    total += 1;
    __asm__ volatile("" ::: "memory");
  }
}

static void time_parallel(void) {
  for (int k = 0; k < own.repetitions; ++k) {
#pragma omp parallel
    delay();
  }
}

static void time_for(void) {
#pragma omp parallel
  for (int k = 0; k < own.repetitions; ++k) {
#pragma omp for
    for (int i = 0; i < own.threads; ++i) delay();
  }
}

static void time_parallel_for(void) {
  for (int k = 0; k < own.repetitions; ++k) {
#pragma omp parallel for
    for (int i = 0; i < own.threads; ++i) delay();
  }
}

static void time_barrier(void) {
#pragma omp parallel
  for (int k = 0; k < own.repetitions; ++k) {
    delay();
#pragma omp barrier
  }
}

static void time_single(void) {
#pragma omp parallel
  for (int k = 0; k < own.repetitions; ++k) {
#pragma omp single
    delay();
  }
}

static void time_critical(void) {
#pragma omp parallel
  for (int k = 0; k < own.share; ++k) {
#pragma omp critical
    delay();
  }
}

static void time_lock(void) {
#pragma omp parallel
  for (int k = 0; k < own.share; ++k) {
    omp_set_lock(&lock);
    delay();
    omp_unset_lock(&lock);
  }
}

static void time_ordered(void) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int k = 0; k < own.repetitions; ++k) {
#pragma omp ordered
    delay();
  }
}

static void time_atomic(void) {
#pragma omp parallel
  for (int k = 0; k < own.share; ++k) {
#pragma omp atomic
    total += 1;
  }
}

static void time_reduction(void) {
  for (int k = 0; k < own.repetitions; ++k) {
#pragma omp parallel reduction(+ : total)
    {
      delay();
      total += 1;
    }
  }
}

enum reference { of_delay, of_atomic, of_reduction, references };

struct directive {
  const char* name;
  void (*run)(void);
  enum reference reference;
};

static const struct directive directives[] = {
    {"PARALLEL", time_parallel, of_delay},
    {"FOR", time_for, of_delay},
    {"PARALLEL FOR", time_parallel_for, of_delay},
    {"BARRIER", time_barrier, of_delay},
    {"SINGLE", time_single, of_delay},
    {"CRITICAL", time_critical, of_delay},
    {"LOCK/UNLOCK", time_lock, of_delay},
    {"ORDERED", time_ordered, of_delay},
    {"ATOMIC", time_atomic, of_atomic},
    {"REDUCTION", time_reduction, of_reduction},
};
enum { directive_count = sizeof directives / sizeof directives[0] };

static void (*const reference_runs[references])(void) = {reference_delay, reference_atomic, reference_reduction};

/* Of the time of one repetition, in microseconds. */
struct statistics {
  double mean;
  double least;
  double most;
  double deviation; /* standard deviation of the samples */
  int outliers;     /* samples farther than three standard deviations from the mean */
};

static struct statistics statistics_of(const double* samples, int count) {
  struct statistics made = {.least = samples[0], .most = samples[0]};
  for (int i = 0; i < count; ++i) {
    made.mean += samples[i] / count;
    if (samples[i] < made.least) made.least = samples[i];
    if (samples[i] > made.most) made.most = samples[i];
  }
  double squares = 0;
  for (int i = 0; i < count; ++i) squares += (samples[i] - made.mean) * (samples[i] - made.mean);
  made.deviation = sqrt(squares / (count - 1));
  for (int i = 0; i < count; ++i) made.outliers += fabs(samples[i] - made.mean) > 3 * made.deviation;
  return made;
}

/* Half of what holds 95 % of a normal distribution, in standard deviations. */
static const double half_width = 1.96;

/* One sample more, the first, is not counted: it gets the pages where they are used. */
static struct statistics measure(void (*run)(void), int samples) {
  double* times = calloc((size_t)samples, sizeof *times);
  if (!times) stop(status_failed, program, "no memory for %d samples", samples);
  run();
  for (int i = 0; i < samples; ++i) {
    const double begin = omp_get_wtime();
    run();
    times[i] = (omp_get_wtime() - begin) / own.repetitions * 1e6;
  }
  const struct statistics made = statistics_of(times, samples);
  free(times);
  return made;
}

static void print_row(const struct statistics* made, int samples) {
  printf("\n Sample_size       Average     Min         Max          S.D.          Outliers\n");
  printf(" %-17d %-11.5f %-11.5f %-12.5f %-13.5f %d\n\n", samples, made->mean, made->least, made->most, made->deviation,
         made->outliers);
}

static struct statistics measure_reference(int number, int samples) {
  printf("\n Computing reference time %d\n", number + 1);
  const struct statistics made = measure(reference_runs[number], samples);
  print_row(&made, samples);
  printf(" Reference_time_%d =                        %.5f microseconds +/- %.5f\n", number + 1, made.mean,
         half_width * made.deviation);
  return made;
}

static void measure_directive(const struct directive* directive, const struct statistics* reference, int samples) {
  printf("\n Computing %s time\n", directive->name);
  const struct statistics made = measure(directive->run, samples);
  print_row(&made, samples);
  printf(" %s time =                           %.5f microseconds +/- %.5f\n", directive->name, made.mean,
         half_width * made.deviation);
  printf(" %s overhead =                       %.5f microseconds +/- %.5f\n", directive->name,
         made.mean - reference->mean, half_width * (made.deviation + reference->deviation));
}

struct options {
  int samples;
  long repetitions;
  long delay;
  int is_wanted[directive_count];
};

static void print_help(void) {
  printf(
      "epcc: what OpenMP's synchronisation costs, in the output format of EPCC's microbenchmarks\n"
      "\n"
      "  --directive NAME   one of these (may be given several times; default: all):\n"
      "                     parallel, for, parallel-for, barrier, single, critical, lock, ordered, atomic, reduction\n"
      "  --repetitions N    of the directive in a sample, a multiple of the threads (default 1000)\n"
      "  --samples N        from 2 on (default 20)\n"
      "  --delay N          additions between directives (default 500)\n"
      "\n"
      "The numbers are fixed: the clock decides nothing. A directive's overhead is its time less that of the same "
      "delay\n"
      "in sequential code. Exit status: 0 done, 1 the run failed, 2 bad usage.\n"
      "\n"
      "Try: OMP_NUM_THREADS=4 epcc --directive barrier --directive lock\n");
}

/* The directive by its name on the command line: in small letters, up to a stroke, with hyphens. */
static int directive_named(const char* name) {
  for (int number = 0; number < directive_count; ++number) {
    const char* known = directives[number].name;
    size_t i = 0;
    for (; known[i] != '\0' && known[i] != '/'; ++i) {
      const char small = known[i] == ' ' ? '-' : (char)(known[i] - 'A' + 'a');
      if (name[i] != small) break;
    }
    if ((known[i] == '\0' || known[i] == '/') && name[i] == '\0') return number;
  }
  stop(status_bad_input, program, "--directive '%s' is none of those that --help lists", name);
}

static struct options read_options(int argc, char** argv) {
  enum { opt_directive = 1, opt_repetitions, opt_samples, opt_delay };
  static const struct option known[] = {
      {"directive", required_argument, NULL, opt_directive},
      {"repetitions", required_argument, NULL, opt_repetitions},
      {"samples", required_argument, NULL, opt_samples},
      {"delay", required_argument, NULL, opt_delay},
      {"help", no_argument, NULL, opt_help},
      {NULL, 0, NULL, 0},
  };
  struct options options = {.samples = 20, .repetitions = 1000, .delay = 500};
  int named = 0;
  argv[0] = (char*)program;  // getopt's messages begin with it
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (option) {
      case opt_directive:
        options.is_wanted[directive_named(optarg)] = 1;
        named = 1;
        break;
      case opt_repetitions:
        options.repetitions = integer_option(program, "--repetitions", optarg, 1, 1000000000);
        break;
      case opt_samples: options.samples = (int)integer_option(program, "--samples", optarg, 2, 1000000); break;
      case opt_delay: options.delay = integer_option(program, "--delay", optarg, 0, 1000000000); break;
      case opt_help: print_help(); exit(status_done);
      default: exit(status_bad_input); /* getopt has said why */
    }
  }
  refuse_arguments(program, argc, argv);
  for (int number = 0; !named && number < directive_count; ++number) options.is_wanted[number] = 1;
  return options;
}

int main(int argc, char** argv) {
  const struct options options = read_options(argc, argv);
  const int threads = omp_get_max_threads();
  if (options.repetitions % threads != 0) {
    stop(status_bad_input, program, "--repetitions %ld is no multiple of the %d threads, which share them out",
         options.repetitions, threads);
  }
  printf(" Running OpenMP benchmark on %d thread(s)\n", threads);
  own.repetitions = (int)options.repetitions;
  own.share = own.repetitions / threads;
  own.delay = (int)options.delay;
  own.threads = threads;
  omp_init_lock(&lock);
#pragma omp parallel copyin(own)
  __asm__ volatile("" ::: "memory");  // the compiler drops a region that is quite empty
  struct statistics reference[references] = {0};
  int is_known[references] = {0};
  for (int number = 0; number < directive_count; ++number) {
    const struct directive* directive = &directives[number];
    if (!options.is_wanted[number]) continue;
    if (!is_known[directive->reference]) {
      reference[directive->reference] = measure_reference((int)directive->reference, options.samples);
      is_known[directive->reference] = 1;
    }
    measure_directive(directive, &reference[directive->reference], options.samples);
  }
  omp_destroy_lock(&lock);
  return end_of_run(program);
}
