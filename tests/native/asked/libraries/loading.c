// Built as loading with -O2 -DCALLS=100
// Built as loading_often with -O2 -DCALLS=1000
// What docs/contract.md says of libraries that come by dlopen: by one thread for all, by each for itself.
#include <dlfcn.h>
#include <stdio.h>
static int shared, most;
int main(int argc, char** argv) {
  int (*call)(int*) = dlsym(dlopen(argv[1], RTLD_NOW), "call");
#pragma omp parallel reduction(max : most)
  {
    int (*own)(int*) = argc > 2 ? dlsym(dlopen(argv[1], RTLD_NOW), "call") : call;
    for (int i = 0; i < CALLS; ++i) most = own(&shared);
  }
  printf("%d %d\n", shared, most);
}
