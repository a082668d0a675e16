/* Prints what its clock shows: the initial thread's readings, and those of the other threads of a team. "rounds":
 * doubles its work until it takes two milliseconds, and prints how often. "sleep": how
 * long a millisecond of sleep takes. "repeat": for 20 s. "chain", "row": see below. */
#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double others[8];

int main(int argc, char** argv) {
  const double begin = omp_get_wtime();
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    if (me > 0) others[me] = omp_get_wtime();
#pragma omp barrier
  }
  const double end = omp_get_wtime();
  printf("%.9f %.9f", begin, end);
  for (int thread = 1; thread < omp_get_max_threads(); ++thread) printf(" %.9f", others[thread]);
  puts("");
  double taken = end - begin;
  if (argc > 1 && strcmp(argv[1], "rounds") == 0) {
    int barriers = 1;
    taken = 0;
    for (; taken < 2e-3; barriers *= 2) {
      const double start = omp_get_wtime();
#pragma omp parallel
      for (int i = 0; i < barriers; ++i) {
#pragma omp barrier
      }
      taken = omp_get_wtime() - start;
    }
    printf("%d barriers\n", barriers / 2);
  }
  if (argc > 1 && strcmp(argv[1], "sleep") == 0) {
    const struct timespec millisecond = {0, 1000000};
    const double start = omp_get_wtime();
    nanosleep(&millisecond, NULL);
    printf("%.9f\n", omp_get_wtime() - start);
  }
  if (argc > 1 && strcmp(argv[1], "repeat") == 0) {
    for (const double start = omp_get_wtime(); omp_get_wtime() - start < 20;) {
#pragma omp parallel
      others[omp_get_thread_num() % 8] += 1;
    }
  }
  if (argc > 1 && strcmp(argv[1], "chain") == 0) {
    /* Each barrier only if what came before it took long. */
    for (int i = 0; i < 8; ++i) {
      const double start = omp_get_wtime();
#pragma omp parallel if (taken > 1e-3)
      {
#pragma omp barrier
      } taken = omp_get_wtime() - start;
    }
  }
  if (argc > 1 && strcmp(argv[1], "row") == 0) {
    /* Nothing else in between. */
    for (int i = 0; i < 2; ++i) {
#pragma omp parallel
      for (int k = 0; k < 3000; ++k) (void)omp_get_wtime();
      for (int k = 0; k < 1500; ++k) (void)omp_get_wtime();
    }
  }
  return 0;
}
