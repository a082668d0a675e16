// Built as every_call with -O1 -w
// All arguments are pages of zeros that another thread has written last; many calls refuse them for other reasons.
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { page = 4096, each = 8 * page };
int main(int argc, char** argv) {
  int bad = 0;
  for (int i = 1; i < argc; ++i) {
    static char* memory;
    memory = aligned_alloc(page, each);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
      memset(memory, 1, each);
      memset(memory, 0, each);
    }
    char* m = memory;
    if (syscall(atoi(argv[i]), m, m + page, m + 2 * page, m + 3 * page, m + 4 * page, m + 5 * page) < 0 &&
        errno == EFAULT) {
      ++bad;
      printf("%s\n", argv[i]);
    }
  }
  printf("%d fail\n", bad);
}
