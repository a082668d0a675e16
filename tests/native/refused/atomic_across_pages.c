// `omp atomic`: reaches over the end of a page (run only)
#include <stdint.h>
#include <stdlib.h>

int main(void) {
  enum { page = 4096 };
  uint64_t* const across = (uint64_t*)(void*)((char*)aligned_alloc(page, 2 * page) + page - sizeof(uint64_t) / 2);
#pragma omp parallel num_threads(2)
#pragma omp atomic
  ++*across;
  return 0;
}
