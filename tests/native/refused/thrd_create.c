// `thrd_create`: the program calls thrd_create:
#include <omp.h>
#include <stddef.h>
#include <threads.h>

static int do_nothing(void* unused) {
  return unused != NULL;
}

int main(void) {
  thrd_t thread;
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  return thrd_create(&thread, do_nothing, NULL);
}
