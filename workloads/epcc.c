/* Measures the cost of OpenMP's directives, after the description of EPCC's microbenchmarks (docs/workloads.md): the
 * time of a delay under a directive, less that of the same delay in sequential code. The output has version 2's format,
 * and says that it is not EPCC's (python/sdsm/readers/epcc.py). */
#include <math.h>
#include <omp.h>
#include <sdsm/placement.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/epcc.h"
#include "workloads/options.h"
#include "workloads/result.h"

static const char program[] = "epcc";

struct epcc_numbers own;

static omp_lock_t lock;
static double total;

void delay(void) {
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

static const struct directive synchronising[] = {
    {"PARALLEL", time_parallel, of_delay, synchronisation, 0},
    {"FOR", time_for, of_delay, synchronisation, 0},
    {"PARALLEL FOR", time_parallel_for, of_delay, synchronisation, 0},
    {"BARRIER", time_barrier, of_delay, synchronisation, 0},
    {"SINGLE", time_single, of_delay, synchronisation, 0},
    {"CRITICAL", time_critical, of_delay, synchronisation, 0},
    {"LOCK/UNLOCK", time_lock, of_delay, synchronisation, 0},
    {"ORDERED", time_ordered, of_delay, synchronisation, 0},
    {"ATOMIC", time_atomic, of_atomic, synchronisation, 0},
    {"REDUCTION", time_reduction, of_reduction, synchronisation, 0},
};

static const char* const group_names[groups] = {"synchronisation", "scheduling", "arrays", "flush"};

static void (*const reference_runs[references])(void) = {reference_delay, reference_atomic, reference_reduction,
                                                         reference_loop,  reference_array,  reference_columns};

/* Statistics of one repetition's time, in microseconds. */
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

/* Half the width of a normal distribution's 95 % interval, in standard deviations. */
static const double half_width = 1.96;

/* The first of samples + 1 samples is not counted: it fetches the pages. */
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

static struct statistics measure_reference(enum reference kind, int number, int samples) {
  printf("\n Computing reference time %d\n", number);
  const struct statistics made = measure(reference_runs[kind], samples);
  print_row(&made, samples);
  printf(" Reference_time_%d =                        %.5f microseconds +/- %.5f\n", number, made.mean,
         half_width * made.deviation);
  return made;
}

/* Like version 2, the lines below leave out the size of an array, but not that of a chunk. */
static void measure_directive(const struct directive* directive, const struct statistics* reference, int samples) {
  char size[16] = "";
  if (directive->size > 0) snprintf(size, sizeof size, " %d", directive->size);
  printf("\n Computing %s%s time\n", directive->name, size);
  const struct statistics made = measure(directive->run, samples);
  print_row(&made, samples);
  const char* const shown = directive->group == scheduling ? size : "";
  printf(" %s%s time =                           %.5f microseconds +/- %.5f\n", directive->name, shown, made.mean,
         half_width * made.deviation);
  printf(" %s%s overhead =                       %.5f microseconds +/- %.5f\n", directive->name, shown,
         made.mean - reference->mean, half_width * (made.deviation + reference->deviation));
}

enum { most_wanted = 64 };

struct options {
  int samples;
  long repetitions;
  long delay;
  long iterations;
  const char* names[most_wanted]; /* of directives */
  int name_count;
  int is_group[groups];
  int sizes[most_wanted];
  int size_count;
};

static void print_help(void) {
  printf(
      "epcc: what OpenMP's directives cost, in the output format of EPCC's microbenchmarks\n"
      "\n"
      "  --group NAME       synchronisation (default), scheduling, arrays, flush; may be given several times\n"
      "  --directive NAME   one of these (may be given several times; default: all of the group):\n"
      "                     parallel, for, parallel-for, barrier, single, critical, lock, ordered, atomic, reduction;\n"
      "                     static, dynamic, guided, affinity; private, firstprivate, copyprivate, copyin; flush\n"
      "  --size N           of the chunks (1, 2, 4, ... --iterations) or arrays (1, 3, 9, ... 177147 elements; flush:\n"
      "                     so many rows, and a column for each thread); may be given several times (default: all)\n"
      "  --repetitions N    of the directive in a sample, a multiple of the threads (default 1000)\n"
      "  --samples N        from 2 on (default 20)\n"
      "  --delay N          additions between directives (default 500)\n"
      "  --iterations N     of a scheduled loop, for each thread (default 128)\n"
      "\n"
      "The numbers are fixed: the clock decides nothing. A directive's overhead is its time less that of the same "
      "delay\n"
      "in sequential code. Exit status: 0 done, 1 the run failed, 2 bad usage.\n"
      "\n"
      "Try: OMP_NUM_THREADS=4 epcc --directive barrier --directive lock\n"
      "     OMP_NUM_THREADS=4 epcc --group scheduling --repetitions 8 --size 1 --size 16\n");
}

/* Compares with the directive's name on the command line: in small letters, up to a stroke, with hyphens. */
static int is_named(const struct directive* directive, const char* name) {
  const char* known = directive->name;
  size_t i = 0;
  for (; known[i] != '\0' && known[i] != '/'; ++i) {
    const char small = known[i] == ' ' ? '-' : (char)(known[i] - 'A' + 'a');
    if (name[i] != small) return 0;
  }
  return name[i] == '\0';
}

static int group_named(const char* name) {
  for (int group = 0; group < groups; ++group) {
    if (strcmp(group_names[group], name) == 0) return group;
  }
  stop(status_bad_input, program, "--group '%s' is none of those that --help lists", name);
}

static int is_wanted(const struct directive* directive, const struct options* options) {
  int named = options->name_count == 0 && options->is_group[directive->group];
  for (int i = 0; i < options->name_count; ++i) named |= is_named(directive, options->names[i]);
  if (!named || options->size_count == 0 || directive->size == 0) return named;
  for (int i = 0; i < options->size_count; ++i) {
    if (options->sizes[i] == directive->size) return 1;
  }
  return 0;
}

static void add_name(struct options* options, const char* name) {
  if (options->name_count == most_wanted) stop(status_bad_input, program, "more than %d --directive", most_wanted);
  options->names[options->name_count++] = name;
}

static void add_size(struct options* options, const char* text) {
  if (options->size_count == most_wanted) stop(status_bad_input, program, "more than %d --size", most_wanted);
  options->sizes[options->size_count++] = (int)integer_option(program, "--size", text, 1, 1000000);
}

static struct options read_options(int argc, char** argv) {
  enum { opt_directive = 1, opt_group, opt_size, opt_repetitions, opt_samples, opt_delay, opt_iterations };
  static const struct option known[] = {
      {"directive", required_argument, NULL, opt_directive},
      {"group", required_argument, NULL, opt_group},
      {"size", required_argument, NULL, opt_size},
      {"repetitions", required_argument, NULL, opt_repetitions},
      {"samples", required_argument, NULL, opt_samples},
      {"delay", required_argument, NULL, opt_delay},
      {"iterations", required_argument, NULL, opt_iterations},
      {"help", no_argument, NULL, opt_help},
      {NULL, 0, NULL, 0},
  };
  struct options options = {.samples = 20, .repetitions = 1000, .delay = 500, .iterations = 128};
  int is_grouped = 0;
  argv[0] = (char*)program;  // getopt's messages begin with it
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (option) {
      case opt_directive: add_name(&options, optarg); break;
      case opt_group:
        options.is_group[group_named(optarg)] = 1;
        is_grouped = 1;
        break;
      case opt_size: add_size(&options, optarg); break;
      case opt_repetitions:
        options.repetitions = integer_option(program, "--repetitions", optarg, 1, 1000000000);
        break;
      case opt_samples: options.samples = (int)integer_option(program, "--samples", optarg, 2, 1000000); break;
      case opt_delay: options.delay = integer_option(program, "--delay", optarg, 0, 1000000000); break;
      case opt_iterations: options.iterations = integer_option(program, "--iterations", optarg, 1, 1 << 20); break;
      case opt_help: print_help(); exit(status_done);
      default: exit(status_bad_input); /* getopt has printed the reason */
    }
  }
  refuse_arguments(program, argc, argv);
  if (!is_grouped) options.is_group[synchronisation] = 1;
  if (is_grouped && options.name_count > 0) {
    stop(status_bad_input, program, "--directive says which; leave --group out");
  }
  return options;
}

static struct directive directives[most_directives];

static int list_directives(const struct options* options, int threads) {
  int count = 0;
  for (; count < (int)(sizeof synchronising / sizeof synchronising[0]); ++count) {
    directives[count] = synchronising[count];
  }
  count = add_scheduling(directives, count, (int)options->iterations, threads);
  return add_arrays(directives, count);
}

/* Refuses names without a directive: they are misspelt. */
static void check_wanted(const struct options* options, int count) {
  for (int i = 0; i < options->name_count; ++i) {
    int found = 0;
    for (int k = 0; k < count; ++k) found |= is_named(&directives[k], options->names[i]);
    if (!found) {
      stop(status_bad_input, program, "--directive '%s' is none of those that --help lists", options->names[i]);
    }
  }
  for (int i = 0; i < options->size_count; ++i) {
    int found = 0;
    for (int k = 0; k < count; ++k) {
      found |= is_wanted(&directives[k], options) && directives[k].size == options->sizes[i];
    }
    if (!found) stop(status_bad_input, program, "--size %d is none of what was asked for", options->sizes[i]);
  }
}

/* Sets each thread's own size and data for a directive. */
static void prepare(const struct directive* directive) {
  own.size = directive->size;
  if (directive->group == scheduling && own.rows == NULL) {
    own.rows = sdsm_galloc((size_t)own.iterations * (size_t)own.threads * SDSM_PAGE_BYTES, sdsm_block);
    if (!own.rows) stop(status_failed, program, "no memory for the rows of a loop");
  }
  if (directive->group == flushes) {
    free(own.columns);
    own.columns = calloc((size_t)own.size * (size_t)own.threads, sizeof *own.columns);
    if (!own.columns) stop(status_failed, program, "no memory for %d rows", own.size);
  }
#pragma omp parallel copyin(own)
  __asm__ volatile("" ::: "memory");  // the compiler drops an empty region
}

static void measure_all(const struct options* options, int count) {
  struct statistics reference[references] = {{0}};
  int number_of[references] = {0}, numbers = 0;
  for (int k = 0; k < count; ++k) {
    const struct directive* directive = &directives[k];
    if (!is_wanted(directive, options)) continue;
    const enum reference kind = directive->reference;
    if (directive->group != synchronisation) prepare(directive);
    if (number_of[kind] == 0 || kind == of_columns) {
      // References of synchronisation keep their numbers.
      if (number_of[kind] == 0) number_of[kind] = kind <= of_reduction ? (int)kind + 1 : of_reduction + 2 + numbers++;
      reference[kind] = measure_reference(kind, number_of[kind], options->samples);
    }
    measure_directive(directive, &reference[kind], options->samples);
  }
}

int main(int argc, char** argv) {
  const struct options options = read_options(argc, argv);
  const int threads = omp_get_max_threads();
  if (options.repetitions % threads != 0) {
    stop(status_bad_input, program, "--repetitions %ld is no multiple of the %d threads, which share them out",
         options.repetitions, threads);
  }
  if (options.iterations > 1000000000 / threads) {
    stop(status_bad_input, program, "--iterations %ld for each of %d threads are too many", options.iterations,
         threads);
  }
  const int count = list_directives(&options, threads);
  check_wanted(&options, count);
  printf(" Running OpenMP benchmark on %d thread(s)\n Suite: sdsm's epcc\n", threads);
  own.repetitions = (int)options.repetitions;
  own.share = own.repetitions / threads;
  own.delay = (int)options.delay;
  own.threads = threads;
  own.iterations = (int)options.iterations;
  omp_init_lock(&lock);
#pragma omp parallel copyin(own)
  __asm__ volatile("" ::: "memory");  // the compiler drops an empty region
  measure_all(&options, count);
  omp_destroy_lock(&lock);
  sdsm_gfree(own.rows);
  free(own.columns);
  return end_of_run(program);
}
