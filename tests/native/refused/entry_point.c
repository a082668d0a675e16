// Calls the entry point of libgomp that its argument names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>

int main(int argc, char** argv) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  void (*const entry)(void) = argc == 2 ? (void (*)(void))dlsym(RTLD_DEFAULT, argv[1]) : 0;
  if (entry == 0) return 3;
  entry();
  return 0;
}
