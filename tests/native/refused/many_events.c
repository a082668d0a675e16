// `detach`: more than 1024 tasks with a detach clause
#include <omp.h>

int main(void) {
  static int run[1025];
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 1025; ++i) {
    omp_event_handle_t event;
#pragma omp task detach(event)
    run[i] = 1;
  }
  return run[0] != 1;
}
