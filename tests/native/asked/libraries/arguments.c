#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  while (getopt(argc, argv, "v") != -1) {
  }
  char* const first = strtok(argv[optind], ",");
  int right = 0, members = 0;
#pragma omp parallel reduction(+ : right, members)
  {
    ++members;
    right +=
        strcmp(argv[optind], "a") == 0 && strcmp(first, "a") == 0 && strcmp(first + 2, "b") == 0 && argv[argc] == NULL;
  }
  printf("%d of %d\n", right, members);
  return 0;
}
