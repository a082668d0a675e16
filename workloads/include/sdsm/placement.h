/** Chooses the homes of a program's pages on a cluster whose shared memory is made in software, and the iterations of
 *  a loop that should run there. For C (C11) and C++ programs compiled with -fopenmp; Fortran: placement.f90 beside
 *  this file. Header only: a program that uses it links nothing of sdsm.
 *
 *  Under an ordinary OpenMP run-time the calls do nothing but allocate (page-aligned) and divide loops in equal parts.
 *  Under `sdsm trace` and `sdsm run` they reach the run-time through the sdsm_rt_ functions below.
 *
 *  What each corresponds to on Omni OpenMP for SCASH:
 *    malloc                              pages are placed round-robin; nothing to call
 *    sdsm_galloc(bytes, sdsm_block)      ompsm_galloc() with a block distribution
 *    sdsm_map(a, sizeof a, sdsm_block)   #pragma omni mapping(a[block][*])
 *    sdsm_affinity(...)                  schedule(affinity, a[y][*])
 */
#ifndef SDSM_PLACEMENT_H
#define SDSM_PLACEMENT_H

#include <stddef.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SDSM_PAGE_BYTES 4096

/** A static array that is to be mapped owns its pages: `static SDSM_PAGE_ALIGNED double a[1024][1024];` */
#define SDSM_PAGE_ALIGNED __attribute__((aligned(16 * SDSM_PAGE_BYTES)))

/** Home of page i of N over P threads. */
enum sdsm_distribution {
  sdsm_round_robin = 0, /**< thread i mod P */
  sdsm_block = 1        /**< thread floor(i P / N) */
};

/* Functions of a run-time. A program must never define these, not even weakly: its definition would override the
 * run-time's. Except for sdsm_rt_home, one thread at a time calls them, outside of parallel regions. */

/** Returns `bytes` bytes of shared memory on a page boundary, or NULL if memory is exhausted. */
void* sdsm_rt_galloc(size_t bytes, int distribution) __attribute__((weak));
/** Frees memory of sdsm_rt_galloc. NULL is allowed. */
void sdsm_rt_gfree(void* block) __attribute__((weak));
/** Distributes the pages of [address, address + bytes), a static array on page boundaries, over the threads. Returns
 *  0 if done, or changes nothing (not shared memory, not on a page boundary, unknown distribution). */
int sdsm_rt_map(void* address, size_t bytes, int distribution) __attribute__((weak));
/** Number of the thread whose process is the home of the page that holds `address`; -1 if it is not shared memory.
 *  Does not touch the page. Any thread may call it at any time. */
int sdsm_rt_home(const void* address) __attribute__((weak));

/* The address of a weak function as the dynamic linker found it, or null. In code that is not position-independent
 * (-fno-pie -no-pie) the linker fixes a plain `if (sdsm_rt_galloc)` as null, and a run-time that is preloaded later is
 * never called; an address in the global offset table is resolved when the program starts. */
#if defined(__x86_64__)
#define SDSM_RT_FIND(function, pointer) \
  __asm__(".weak " #function "\n\tmovq " #function "@GOTPCREL(%%rip), %0" : "=r"(pointer))
#elif defined(__aarch64__)
#define SDSM_RT_FIND(function, pointer) \
  __asm__(".weak " #function "\n\tadrp %0, :got:" #function "\n\tldr %0, [%0, :got_lo12:" #function "]" : "=r"(pointer))
#else
#define SDSM_RT_FIND(function, pointer) ((pointer) = (function))
#endif

/** Returns `bytes` bytes on a page boundary with the given distribution, uninitialised; NULL if memory is exhausted. */
static inline void* sdsm_galloc(size_t bytes, enum sdsm_distribution distribution) {
  void* (*galloc)(size_t, int);
  SDSM_RT_FIND(sdsm_rt_galloc, galloc);
  if (galloc) return galloc(bytes, (int)distribution);
  /* C11 requires a multiple of the alignment. */
  size_t pages = bytes / SDSM_PAGE_BYTES + (bytes % SDSM_PAGE_BYTES != 0 || bytes == 0);
  if (pages > (size_t)-1 / SDSM_PAGE_BYTES) return NULL;
  return aligned_alloc(SDSM_PAGE_BYTES, pages * SDSM_PAGE_BYTES);
}

/** Frees memory of sdsm_galloc. NULL is allowed. */
static inline void sdsm_gfree(void* block) {
  void (*gfree)(void*);
  SDSM_RT_FIND(sdsm_rt_gfree, gfree);
  if (gfree) {
    gfree(block);
  } else {
    free(block);
  }
}

/** Distributes a static array that starts on a page boundary (SDSM_PAGE_ALIGNED); its last page is mapped as a whole.
 *  Call it before a parallel region uses the array. Returns 0 if done, or without shared memory made in software. */
static inline int sdsm_map(void* array, size_t bytes, enum sdsm_distribution distribution) {
  int (*map)(void*, size_t, int);
  SDSM_RT_FIND(sdsm_rt_map, map);
  return map ? map(array, bytes, (int)distribution) : 0;
}

/** Number of the thread that is the home of the page at `address`; -1 where pages have no home. */
static inline int sdsm_home(const void* address) {
  int (*home)(const void*);
  SDSM_RT_FIND(sdsm_rt_home, home);
  return home ? home(address) : -1;
}

/** A share of a loop: `for (long row = share.begin; row < share.end; ++row)`. */
struct sdsm_rows {
  long begin;
  long end;
};

/** Part `part` of `parts` equal parts of [first, last): the first ones get one more where they do not divide evenly. */
static inline struct sdsm_rows sdsm_equal_share(long first, long last, int part, int parts) {
  struct sdsm_rows share;
  /* A loop may have more iterations than a long counts. */
  unsigned long count = last > first ? (unsigned long)last - (unsigned long)first : 0;
  unsigned long rows = count / (unsigned long)parts, own = (unsigned long)part;
  unsigned long rest = count % (unsigned long)parts;
  share.begin = (long)((unsigned long)first + own * rows + (own < rest ? own : rest));
  share.end = (long)((unsigned long)share.begin + rows + (own < rest ? 1 : 0));
  return share;
}

/* First row in [first, last) whose first byte has its home at `thread` or later; `last` if there is none. */
static inline long sdsm_first_row_of(const void* array, size_t row_bytes, long first, long last, int thread) {
  while (first < last) {
    long middle = first + (last - first) / 2;
    if (sdsm_home((const char*)array + (size_t)middle * row_bytes) >= thread) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

/** Returns the rows of [first, last) for the calling thread. The array's rows have `row_bytes` bytes and are
 *  distributed by blocks; a thread gets the rows whose first byte has its home there. Where pages have no home, each
 *  thread gets an equal part; the first ones get one more if they do not divide evenly. The shares of a team's threads
 *  hold each row exactly once, for any team size and placement (rows whose home is outside of the team go to its last
 *  thread). */
static inline struct sdsm_rows sdsm_affinity(const void* array, size_t row_bytes, long first, long last) {
  struct sdsm_rows share;
  int thread = 0;
  int threads = 1;
#ifdef _OPENMP
  thread = omp_get_thread_num();
  threads = omp_get_num_threads();
#endif
  if (last < first) last = first;
  if (last > first && sdsm_home((const char*)array + (size_t)first * row_bytes) >= 0) {
    share.begin = thread == 0 ? first : sdsm_first_row_of(array, row_bytes, first, last, thread);
    share.end = thread == threads - 1 ? last : sdsm_first_row_of(array, row_bytes, first, last, thread + 1);
    return share;
  }
  return sdsm_equal_share(first, last, thread, threads);
}

#ifdef __cplusplus
}
#endif

#endif
