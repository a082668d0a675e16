#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  void (*tell)(void) = (void (*)(void))dlsym(library, "tell");
  printf("from c\n");
  fflush(stdout);
  tell();
#pragma omp parallel
#pragma omp single
  {
    printf("from c again\n");
    fflush(stdout);
  }
}
