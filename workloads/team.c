#include "workloads/team.h"

#include <stdint.h>

#include "sdsm/placement.h"
#include "workloads/options.h"

struct parts allocate_parts(const char* program, int threads, size_t bytes) {
  const size_t parts = (size_t)threads;
  const size_t part_bytes = (bytes + SDSM_PAGE_BYTES - 1) / SDSM_PAGE_BYTES * SDSM_PAGE_BYTES;
  // The first thread is the home of the first n of parts * n pages by blocks, and so on.
  char* memory = part_bytes > SIZE_MAX / parts ? NULL : sdsm_galloc(parts * part_bytes, sdsm_block);
  if (!memory) stop(status_failed, program, "no memory for %d parts of %zu bytes", threads, part_bytes);
  return (struct parts){memory, part_bytes};
}

void start_threads(void) {
#pragma omp parallel
  __asm__ volatile("" ::: "memory");  // the compiler drops an empty region
}
