/* What programs whose threads own equal parts of the data have in common. */
#ifndef SDSM_WORKLOADS_TEAM_H
#define SDSM_WORKLOADS_TEAM_H

#include <stddef.h>

/* Shared memory in equal parts, one for each thread, on pages that are at home with that thread. */
struct parts {
  char* memory;
  size_t part_bytes;
};

/* Parts of at least `bytes` bytes, on page boundaries, uninitialised. Ends the program (exit status 1) if there is no
 * memory left. Give `memory` back by sdsm_gfree. */
struct parts allocate_parts(const char* program, int threads, size_t bytes);

/* Where thread `part` of `parts` begins of `count` items: the threads' shares hold each item exactly once. */
static inline long share_begin(long count, int part, int parts) {
  return count * part / parts;
}

/* Starts the threads, which is no part of what a program measures. */
void start_threads(void);

#endif
