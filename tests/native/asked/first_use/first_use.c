// Two threads write or read memory that the initial thread has written before.
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
enum { pages = 1024, words = 512 };
static double a[pages * words] __attribute__((aligned(4096)));
static long most_kb(void) {
  struct rusage used;
  return getrusage(RUSAGE_SELF, &used) == 0 ? used.ru_maxrss : -1;
}
static void write_all(int me) {
  if (me == 1) {
    for (int i = 0; i < pages * words; ++i) a[i] += 1;
  }
  const long before = most_kb();
#pragma omp barrier
  if (me == 1) printf("%ld\n", most_kb() - before);
}
static void read_rows(void) {
  double sum = 0;
  for (int p = 0; p < pages; ++p) sum += a[p * words];
  if (sum != pages * (pages - 1.0) / 2 * words) printf("wrong\n");
}
int main(int count, char** arguments) {
  for (int i = 0; i < pages * words; ++i) a[i] = i;
#pragma omp parallel num_threads(2)
  if (strcmp(arguments[count - 1], "writes") == 0)
    write_all(omp_get_thread_num());
  else
    read_rows();
  return 0;
}
