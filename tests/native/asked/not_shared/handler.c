// Built as handler with -O1
#include <omp.h>
#include <signal.h>
static volatile sig_atomic_t calls = 0;
static void count(int number) {
  calls = calls + 1;
}
int main(void) {
  signal(SIGUSR2, count);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) raise(SIGUSR2);
  return calls != 1;
}
