/* A benchmark suite whose clock decides how long its delay is and how often it repeats each directive: doubled until a
 * sample takes "test time" (argument 1, in microseconds). It prints what version 3 of EPCC's suite prints. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 3 };
static double test_time_s, reference_us, reference_deviation_us;
static int delay_length;
static volatile float sink;

static void delay(int length) {
  float sum = 0;
  for (int i = 0; i < length; ++i) sum += (float)i;
  sink = sum;
}

static void choose_delay(double wanted_s) {
  for (double taken = 0; taken < wanted_s;) {
    delay_length = (int)(delay_length * 1.1) + 1;
    const double start = omp_get_wtime();
    for (int i = 0; i < 500; ++i) delay(delay_length);
    taken = (omp_get_wtime() - start) / 500;
  }
}

static void reference(int repetitions) {
  for (int i = 0; i < repetitions; ++i) delay(delay_length);
}

static void parallel(int repetitions) {
  const int length = delay_length;
  for (int i = 0; i < repetitions; ++i) {
#pragma omp parallel firstprivate(length)
    {
      float sum = 0;
      for (int k = 0; k < length; ++k) sum += (float)k;
      if (sum < 0) puts("");
    }
  }
}

static void barrier(int repetitions) {
#pragma omp parallel firstprivate(repetitions)
  for (int i = 0; i < repetitions; ++i) {
#pragma omp barrier
  }
}

static void lock(int repetitions) {
#pragma omp parallel firstprivate(repetitions)
  for (int i = 0; i < repetitions / 2; ++i) {
#pragma omp critical
    sink += 1;
  }
}

static void measure(const char* name, void (*test)(int), int is_reference) {
  int repetitions = 10;
  for (;; repetitions *= 2) {
    const double start = omp_get_wtime();
    test(repetitions);
    if (omp_get_wtime() - start >= test_time_s) break;
  }
  double sample[SAMPLES], mean = 0, least = 1e30, most = 0, squares = 0;
  for (int i = 0; i < SAMPLES; ++i) {
    const double start = omp_get_wtime();
    test(repetitions);
    sample[i] = (omp_get_wtime() - start) * 1e6 / repetitions;
    mean += sample[i] / SAMPLES;
    least = fmin(least, sample[i]);
    most = fmax(most, sample[i]);
  }
  for (int i = 0; i < SAMPLES; ++i) squares += (sample[i] - mean) * (sample[i] - mean);
  const double deviation = sqrt(squares / (SAMPLES - 1));
  printf("\n--------------------------------------------------------\n");
  printf("Computing %s time using %d reps\n\n", name, repetitions);
  printf("Sample_size       Average     Min         Max          S.D.          Outliers\n");
  printf(" %d                %f   %f   %f    %f      %d\n\n", SAMPLES, mean, least, most, deviation, 0);
  printf("%s time     = %f microseconds +/- %f\n", name, mean, 1.96 * deviation);
  if (is_reference) {
    reference_us = mean;
    reference_deviation_us = deviation;
    return;
  }
  printf("%s overhead = %f microseconds +/- %f\n", name, mean - reference_us,
         1.96 * (deviation + reference_deviation_us));
}

int main(int argc, char** argv) {
  test_time_s = argc > 1 ? atof(argv[1]) * 1e-6 : 300e-6;
  choose_delay(0.1e-6);
  printf("Running OpenMP benchmark version 3.0\n\t%d thread(s)\n\t%d outer repetitions\n", omp_get_max_threads(),
         SAMPLES);
  printf("\t%.2f test time (microseconds)\n\t%d delay length (iterations) \n\t%f delay time (microseconds)\n",
         test_time_s * 1e6, delay_length, 0.1);
  measure("reference time 1", reference, 1);
  measure("PARALLEL", parallel, 0);
  measure("BARRIER", barrier, 0);
  measure("CRITICAL", lock, 0);
  return 0;
}
