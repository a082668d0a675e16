// `omp_set_lock`: on a stack that it made itself in shared memory (run only)
#include <omp.h>
#include <stdlib.h>

static omp_lock_t lock;

static void take_and_release(void) {
  omp_set_lock(&lock);
  omp_unset_lock(&lock);
}

int main(void) {
  enum { bytes = 1 << 20 };
  omp_init_lock(&lock);
  char* const end = (char*)aligned_alloc(4096, bytes) + bytes;
#pragma omp parallel num_threads(2)
#pragma omp single
  __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; call *%1; mov %%rbx, %%rsp"
                   :
                   : "r"(end), "r"(take_and_release)
                   : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  return 0;
}
