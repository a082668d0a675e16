// `mprotect`: takes away its right to shared memory (mprotect) and has a handler of SIGSEGV
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

static void* guarded;
static void open_it(int number) {
  (void)number;
  mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

int main(void) {
#pragma omp parallel
  if (omp_get_num_threads() == 0) abort();
  guarded = aligned_alloc(4096, 4096);
  signal(SIGSEGV, open_it);
  return mprotect(guarded, 4096, PROT_READ);
}
