// Passes barriers until a file is there.
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int stop = argc != 2;
  printf("begun\n");
  fflush(stdout);
#pragma omp parallel
  while (!stop) {
#pragma omp barrier
#pragma omp master
    stop = access(argv[1], F_OK) == 0;
#pragma omp barrier
  }
  return 0;
}
