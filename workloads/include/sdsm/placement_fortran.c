/* The calls of placement.h as functions that Fortran can link, which knows neither inline functions nor weak
 * references. Compile it beside a program that uses the module of placement.f90. */
#include <sdsm/placement.h>

void* sdsm_fortran_galloc(size_t bytes, int distribution);
void sdsm_fortran_gfree(void* block);
int sdsm_fortran_home(const void* address);
void sdsm_fortran_affinity(const void* array, size_t column_bytes, long first, long last, long* begin, long* end);

void* sdsm_fortran_galloc(size_t bytes, int distribution) {
  return sdsm_galloc(bytes, distribution == sdsm_block ? sdsm_block : sdsm_round_robin);
}

void sdsm_fortran_gfree(void* block) {
  sdsm_gfree(block);
}

int sdsm_fortran_home(const void* address) {
  return sdsm_home(address);
}

/* Fortran counts from 1 and includes the end. */
void sdsm_fortran_affinity(const void* array, size_t column_bytes, long first, long last, long* begin, long* end) {
  const struct sdsm_rows share = sdsm_affinity(array, column_bytes, first - 1, last);
  *begin = share.begin + 1;
  *end = share.end;
}
