#include <omp.h>
#include <stdlib.h>
static long words[8192];
int main(int argc, char** argv) {
#pragma omp parallel
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp critical
      for (int page = 0; page < 16; ++page) ++words[page * 512];
    }
    if (omp_get_thread_num() == 0) {
      if (argc > 1) quick_exit(4);
      exit(5);
    }
  }
}
