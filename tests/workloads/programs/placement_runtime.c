/* Stands for the run-times of sdsm: answers the calls of sdsm/placement.h by rules that the tests know, and says on
 * stderr what it was asked. The homes follow PLACEMENT_HOMES:
 *   rows      page i has home i (more homes than threads)
 *   scattered page i has home i * 7 mod 5 (no order at all)
 *   refuse    nothing can be allocated or mapped */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdsm/placement.h"

static int homes_are(const char* rule) {
  const char* homes = getenv("PLACEMENT_HOMES");
  return homes && strcmp(homes, rule) == 0;
}

/* Where the pages begin to count: the last block or array placed. */
static uintptr_t placed;

void* sdsm_rt_galloc(size_t bytes, int distribution) {
  fprintf(stderr, "galloc %zu %d\n", bytes, distribution);
  if (homes_are("refuse")) return NULL;
  void* block = aligned_alloc(SDSM_PAGE_BYTES, (bytes / SDSM_PAGE_BYTES + 1) * SDSM_PAGE_BYTES);
  placed = (uintptr_t)block;
  return block;
}

void sdsm_rt_gfree(void* block) {
  fprintf(stderr, "gfree\n");
  free(block);
}

int sdsm_rt_map(void* address, size_t bytes, int distribution) {
  fprintf(stderr, "map %zu %d\n", bytes, distribution);
  placed = (uintptr_t)address;
  return homes_are("refuse");
}

int sdsm_rt_home(const void* address) {
  const int page = (int)(((uintptr_t)address - placed) / SDSM_PAGE_BYTES);
  return homes_are("scattered") ? page * 7 % 5 : page;
}
