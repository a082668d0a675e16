// The initial thread notes its change of a block that goes, and another comes to its place before it tells of that.
// Each block's pages have the home that touched them first.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { ints = 3 * 1024 };
static int *block, *before;
static void fill_in_thread(int thread, int value) {
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == thread)
    for (int i = 0; i < ints; ++i) block[i] = value;
}
int main(void) {
  block = before = malloc(ints * sizeof *block);
  fill_in_thread(1, 1);
  for (int i = 0; i < ints; ++i) block[i] = 2;
  free(block);
  block = malloc(ints * sizeof *block);
  fill_in_thread(2, 3);
  int wrong = 0;
  for (int i = 0; i < ints; ++i) wrong += block[i] != 3;
  printf("%s, %d wrong\n", block == before ? "same place" : "elsewhere", wrong);
  return 0;
}
