// `syscall(SYS_futex)`: syscall(SYS_futex) for operation 5, which is not served
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static int word, other;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  syscall(SYS_futex, &word, FUTEX_WAKE_OP, 1, (void*)1L, &other, FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
  return 0;
}
