// Built as closes_files with -O0
#include <unistd.h>
int main(void) {
  for (int file = 3; file < 1024; ++file) close(file);
#pragma omp parallel
  {}
  return 0;
}
