// Built as guarded with -O1
// It waits for faults in the second page of a block: of its own memory, or of a file's. The handler is set first or
// last.
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char* guarded;
static volatile int calls;
static void open_it(int signal) {
  (void)signal;
  ++calls;
  mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}
int main(int count, char** words) {
  const int of_file = strcmp(words[1], "file") == 0, is_late = strcmp(words[1], "late") == 0;
  int file = memfd_create("guarded", 0);
  if (count != 2 || ftruncate(file, 4096) != 0) return 2;
  guarded = of_file ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : aligned_alloc(4096, 4096);
  if (!is_late) signal(SIGSEGV, open_it);
  mprotect(guarded, 4096, PROT_READ);
  if (is_late) signal(SIGSEGV, open_it);
  *guarded = 1;
#pragma omp parallel
  if (omp_get_num_threads() != 2) abort();
  printf("%d calls\n", calls);
  return 0;
}
