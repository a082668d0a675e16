/* What a trace does not hold: memory from the kernel, clocks of the C library, for whom a thread waits at its barriers.
 * And blocks whose addresses the program looks at: all begin on multiples of 64 KiB. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static int is_aligned(const void* block) {
  return (uintptr_t)block % 65536 == 0;
}

int main(void) {
  /* Other anonymous memory is shared, and traced. */
  char* mapped = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  mapped[0] = 1;
  /* Both stay mapped, and the second comes where it is wanted. */
  char* const wanted = (char*)0x500000000000;
  char* moved = mremap(mapped, 3 * 4096, 3 * 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, wanted);
  if (moved != wanted || moved[0] != 1) return 2;
  munmap(mapped, 3 * 4096);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  clock_gettime(CLOCK_MONOTONIC, &now);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 3);
#pragma omp parallel num_threads(3)
  {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_barrier_wait(&barrier);
  }
  int wrong = 0;
  for (int i = 0; i < 8; ++i) {
    char* block = malloc(4096 + (size_t)i * 5000);
    wrong += !is_aligned(block);
    if (i % 2 == 0) free(block);
  }
  return wrong == 0 ? 0 : 1;
}
