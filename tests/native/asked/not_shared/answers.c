#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  char* const folder = getcwd(NULL, PATH_MAX);  // of that size, so that a name may be appended
  char* const next = malloc(64);
  strcpy(next, "as it was");
  memset(folder + strlen(folder), 'x', 500);
  glob_t found;
  memset(&found, 0x55, sizeof found);
  return threads != 2 || strcmp(next, "as it was") != 0 || glob("*", 1 << 30, NULL, &found) != -1 ||
         getcwd(next, 1) != NULL || errno != ERANGE;
}
