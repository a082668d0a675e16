/* Planted: variables that debug information names, and symbols do not: a member of a structure in an array, a static
 * variable of a function. Their atomic operations tell which words are meant. */
#include <stdio.h>

static struct counter {
  long hits;
  struct {
    int low, high;
  } parts[3];
} counters[8];

static void count(void) {
  static int calls;
#pragma omp atomic
  calls++;
#pragma omp atomic
  counters[5].parts[2].high++;
#pragma omp atomic
  counters[5].parts[2].high++;
}

int main(void) {
  static double table[4096];
#pragma omp parallel
  {
    count();
    table[7] = 1;
  }
  printf("%d %g\n", counters[5].parts[2].high, table[7]);
}
