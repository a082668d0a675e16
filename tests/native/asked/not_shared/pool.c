#include <omp.h>
int main(void) {
  const omp_alloctrait_t traits[] = {{omp_atk_pool_size, 1024}, {omp_atk_fallback, omp_atv_null_fb}};
  return omp_init_allocator(omp_default_mem_space, 2, traits) != omp_null_allocator;
}
