// Built as ends_first with -O1
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { threads = 3, pages = 200, page = 4096 };
static pthread_barrier_t barrier;
static char memory[pages * page];
int main(int argc, char** argv) {
  const char* const how = argv[argc - 1];
  pthread_barrier_init(&barrier, NULL, threads);
#pragma omp parallel num_threads(threads)
  {
    const int self = omp_get_thread_num();
    if (strcmp(how, "met") == 0) {
      // The last to come ends the program, before those that it lets go run.
      if (self == 2) {
        for (volatile int i = 0; i < 10000000; ++i) {
        }
      }
      pthread_barrier_wait(&barrier);
      if (self == 2) exit(0);
    } else if (strcmp(how, "behind") == 0) {
      // What others fetch meanwhile takes longer on a cluster than here.
      if (self == 1) {
        usleep(20000);
        exit(0);
      }
      for (int i = 0; i < pages; ++i) memory[i * page] += self;
    } else if (self == 1) {
#pragma omp critical
      {
        memset(memory, 1, sizeof memory);
        exit(0);
      }
    }
#pragma omp barrier
  }
}
