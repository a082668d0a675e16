// Built as kills with -O1
#include <omp.h>
#include <pthread.h>
#include <signal.h>
static pthread_t other;
int main(void) {
  signal(SIGUSR1, SIG_IGN);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) other = pthread_self();
#pragma omp barrier
    if (omp_get_thread_num() == 0) pthread_kill(other, SIGUSR1);
  }
  return 0;
}
