/* Allocators: the library's, with traits, in clauses. All memory is everybody's. */
#include "expect.h"

#include <omp.h>
#include <stdint.h>
#include <string.h>

enum { n = 500 };

static void routines(void) {
  const omp_alloctrait_t traits[] = {{omp_atk_alignment, 128}, {omp_atk_fallback, omp_atv_null_fb}};
  const omp_allocator_handle_t own = omp_init_allocator(omp_default_mem_space, 2, traits);
  EXPECT(own != omp_null_allocator);
  int* const one = omp_alloc(n * sizeof *one, omp_default_mem_alloc);
  int* const two = omp_aligned_alloc(256, n * sizeof *two, omp_high_bw_mem_alloc);
  int* const three = omp_calloc(n, sizeof *three, own);
  int* const four = omp_aligned_calloc(64, n, sizeof *four, omp_large_cap_mem_alloc);
  EXPECT(one && two && three && four);
  EXPECT((uintptr_t)two % 256 == 0 && (uintptr_t)four % 64 == 0 && (uintptr_t)three % 128 == 0);
  int* moved = NULL;
  for (int i = 1; i < 20; ++i) {
    moved = omp_realloc(moved, i * 100 * sizeof *moved, own, own);
    EXPECT(moved && (uintptr_t)moved % 128 == 0 && (i == 1 || moved[99 * (i - 1)] == i));
    moved[99 * i] = i + 1;
  }
  omp_free(moved, own);
  char aligned = 0;
  int wrong = 0;
#pragma omp parallel private(aligned) allocate(own : aligned) reduction(+ : wrong)
  wrong += (uintptr_t)&aligned % 128 != 0;
  EXPECT(wrong == 0);
  int zeros = 1;
  for (int i = 0; i < n; ++i) zeros &= three[i] == 0 && four[i] == 0;
  EXPECT(zeros);
  for (int i = 0; i < n; ++i) one[i] = i;
  int* const longer = omp_realloc(one, 2 * n * sizeof *one, omp_default_mem_alloc, omp_default_mem_alloc);
  EXPECT(longer && longer[n - 1] == n - 1);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) longer[n + i] = two[i] = i;
  EXPECT(longer[2 * n - 1] == n - 1 && two[n - 1] == n - 1);
  omp_free(longer, omp_default_mem_alloc);
  omp_free(two, omp_null_allocator);
  omp_free(three, own);
  omp_free(four, omp_large_cap_mem_alloc);
  omp_destroy_allocator(own);
  omp_set_default_allocator(omp_large_cap_mem_alloc);
  EXPECT(omp_get_default_allocator() == omp_large_cap_mem_alloc);
  omp_set_default_allocator(omp_default_mem_alloc);
}

static void clauses(void) {
  int own[64], right = 0, sum = 0;
  memset(own, 0, sizeof own);
#pragma omp parallel private(own) allocate(omp_high_bw_mem_alloc : own) reduction(+ : right)
  {
    for (int i = 0; i < 64; ++i) own[i] = omp_get_thread_num() + i;
#pragma omp barrier
    right += own[63] == omp_get_thread_num() + 63;
  }
  EXPECT(right == omp_get_max_threads());
#pragma omp parallel
#pragma omp for firstprivate(own) allocate(own) reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += own[i % 64] + 1;
  EXPECT(sum == n);
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task firstprivate(own) allocate(own) shared(done)
    done = own[5] + 1;
#pragma omp taskwait
  }
  EXPECT(done == 1);
}

int main(void) {
  routines();
  clauses();
  return expect_status();
}
