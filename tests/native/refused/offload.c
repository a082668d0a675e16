// `OMP_TARGET_OFFLOAD=mandatory`: OMP_TARGET_OFFLOAD is 'mandatory', and there is no device but the host
#include <stdlib.h>

int main(void) {
  setenv("OMP_TARGET_OFFLOAD", "MANDATORY", 1);
  int done = 0;
#pragma omp target map(tofrom : done)
  done = 1;
  return done;
}
