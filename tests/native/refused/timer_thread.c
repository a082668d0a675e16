// `SIGEV_THREAD`: the program calls timer_create with SIGEV_THREAD:
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static void do_nothing(union sigval unused) {
  (void)unused;
}

int main(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = do_nothing};
  timer_t timer;
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  return timer_create(CLOCK_MONOTONIC, &event, &timer);
}
