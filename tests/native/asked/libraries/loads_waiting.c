// Built as loads_waiting with -O2 -rdynamic
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
static int has_begun, is_over, room[4096];
static void await(int* flag) {
  int is_set = 0;
  while (!is_set) {
#pragma omp atomic read seq_cst
    is_set = *flag;
  }
}
static void set(int* flag) {
#pragma omp atomic write seq_cst
  *flag = 1;
}
void wait_for_other(void) {
  set(&has_begun);
  await(&is_over);
}
int main(int argc, char** argv) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      if (dlopen(argv[argc - 1], RTLD_NOW) == NULL) puts(dlerror());
    } else {
      await(&has_begun);
      ++room[1024];
      set(&is_over);
    }
  }
  puts("end");
}
