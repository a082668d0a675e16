// Built as folders with -O0
#include <dirent.h>
#include <omp.h>
static DIR* opened[2];
int main(void) {
#pragma omp parallel num_threads(2)
  {
    opened[omp_get_thread_num()] = opendir(omp_get_thread_num() ? "/etc" : "/");
#pragma omp barrier
    if (omp_get_thread_num() == 1) readdir(opened[0]);
  }
  return 0;
}
