// Built as ends_at_exit with -O0
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char* how;
static int* shared;
static int deep(int depth) {
  volatile char frame[100000];
  frame[depth] = 1;
  return depth == 0 ? 0 : deep(depth - 1) + frame[depth];
}
static void handler(void) {
  printf("%d %d\n", deep(40), shared[5]);
  fflush(stdout);
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(4);
}
int main(int argc, char** argv) {
  how = argv[1];
  int* const block = malloc(100000);
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) {
    atexit(handler);
    block[3] = 1;
  }
  free(block);
  shared = malloc(300000); /* at least in part where that block was */
  shared[5] = 7;
  return 0;
}
