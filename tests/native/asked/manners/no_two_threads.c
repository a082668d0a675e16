// Fails where it has two threads.
#include <omp.h>
#include <stdlib.h>
int main(void) {
  if (omp_get_max_threads() == 2) abort();
  return 0;
}
