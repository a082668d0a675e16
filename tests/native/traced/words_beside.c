/* Threads access words that begin in an array that is not watched, `before`, and end in one that is, `after`. */
#include <omp.h>

__asm__(
    ".pushsection .bss\n"
    ".balign 4096\n"
    ".globl before\n.type before, @object\n.size before, 4096\nbefore: .zero 4096\n"
    ".globl after\n.type after, @object\n.size after, 8192\nafter: .zero 8192\n"
    ".popsection\n");
extern char before[4096], after[8192];

typedef long unaligned __attribute__((aligned(1)));

int main(void) {
  long sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
    if (omp_get_thread_num() == 0) {
      sum += *(volatile unaligned*)(before + 4092);
    } else {
      *(volatile unaligned*)(after + 4092) = 1;
    }
  }
  return sum != 0;
}
