// `pthread_create`: pthread_create
#include <omp.h>
#include <pthread.h>
#include <stddef.h>

static void* nothing(void* argument) {
  return argument;
}

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  pthread_t thread;
  return pthread_create(&thread, NULL, nothing, NULL);
}
