/* The calls of placement.h and divide.h as functions for Fortran, which has neither inline functions nor weak
 * references. Compile it with a program that uses the module of placement.f90. */
#include <sdsm/divide.h>
#include <sdsm/placement.h>

void* sdsm_fortran_galloc(size_t bytes, int distribution);
void sdsm_fortran_gfree(void* block);
int sdsm_fortran_home(const void* address);
void sdsm_fortran_affinity(const void* array, size_t column_bytes, long first, long last, long* begin, long* end);

void sdsm_fortran_divide(int partition, int gangs, int unit);
void sdsm_fortran_unite(void);
void sdsm_fortran_gang_barrier(void);
int sdsm_fortran_get_thread_num(void);
int sdsm_fortran_get_num_threads(void);
int sdsm_fortran_get_gang_num(void);
int sdsm_fortran_get_num_gangs(void);
void sdsm_fortran_for_begin(long first, long last, long* begin, long* end);
void sdsm_fortran_for_end(void);
void sdsm_fortran_for_end_nowait(void);

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

void sdsm_fortran_divide(int partition, int gangs, int unit) {
  sdsm_divide((enum sdsm_partition)partition, gangs, unit);
}

void sdsm_fortran_unite(void) {
  sdsm_unite();
}

void sdsm_fortran_gang_barrier(void) {
  sdsm_gang_barrier();
}

int sdsm_fortran_get_thread_num(void) {
  return sdsm_get_thread_num();
}

int sdsm_fortran_get_num_threads(void) {
  return sdsm_get_num_threads();
}

int sdsm_fortran_get_gang_num(void) {
  return sdsm_get_gang_num();
}

int sdsm_fortran_get_num_gangs(void) {
  return sdsm_get_num_gangs();
}

void sdsm_fortran_for_begin(long first, long last, long* begin, long* end) {
  const struct sdsm_rows share = sdsm_for_begin(first, last + 1);
  *begin = share.begin;
  *end = share.end - 1;
}

void sdsm_fortran_for_end(void) {
  sdsm_for_end();
}

void sdsm_fortran_for_end_nowait(void) {
  sdsm_for_end_nowait();
}
