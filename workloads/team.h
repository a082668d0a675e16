/* Shared by programs whose threads own equal parts of the data. */
#ifndef SDSM_WORKLOADS_TEAM_H
#define SDSM_WORKLOADS_TEAM_H

#include <stddef.h>

/* Shared memory in equal parts, one for each thread, which is the home of its pages. */
struct parts {
  char* memory;
  size_t part_bytes;
};

/* Allocates parts of at least `bytes` bytes, on page boundaries, uninitialised. Ends the program (exit status 1) if
 * memory is exhausted. Free `memory` with sdsm_gfree. */
struct parts allocate_parts(const char* program, int threads, size_t bytes);

/* First item of thread `part` of `parts`, among `count` items: the threads' shares hold each item exactly once. */
static inline long share_begin(long count, int part, int parts) {
  return count * part / parts;
}

/* Starts the threads before a program begins to measure. */
void start_threads(void);

#endif
