// Built as spins with -O1
// `none`: no parallel region. `one`: a region between serial parts. `clock`: the same, with a measured region
// around the parallel one. `end`: a region, and a second after it. `exit`: a thread of the region ends the program.
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double shared[8192];
static void spin(double s) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec - begin.tv_sec + (now.tv_nsec - begin.tv_nsec) * 1e-9 < s);
}
int main(int count, char** words) {
  const char* how = words[count - 1];
  if (strcmp(how, "at once") == 0) return 0;
  if (strcmp(how, "end") != 0) spin(0.1);
  if (strcmp(how, "none") == 0) return 0;
  if (strcmp(how, "clock") == 0) omp_get_wtime();
#pragma omp parallel
  {
#pragma omp for schedule(static, 1)
    for (int i = 0; i < 8192; ++i) shared[i] += i;
#pragma omp critical
    ++shared[0];
    if (strcmp(how, "exit") == 0 && omp_get_thread_num() == omp_get_num_threads() - 1) exit(0);
#pragma omp barrier
  }
  if (strcmp(how, "clock") == 0) omp_get_wtime();
  spin(strcmp(how, "end") == 0 ? 1 : 0.1);
  return 0;
}
