/* On which processors each thread may run, by its number, and how the thread that serves its process is scheduled. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

int main(void) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int thread = 0; thread < omp_get_num_threads(); ++thread) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) exit(1);
#pragma omp ordered
    {
      printf("thread %d:", thread);
      for (int processor = 0; processor < CPU_SETSIZE; ++processor)
        if (CPU_ISSET(processor, &set)) printf(" %d", processor);
      /* The thread that starts a process serves it from then on. */
      printf(", served by a %s one\n", sched_getscheduler(getpid()) & SCHED_FIFO ? "real-time" : "usual");
    }
  }
  return 0;
}
