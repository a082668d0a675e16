/* Memory from mmap: read and written by all threads, unmapped in parts, mapped anew, grown, cleared and reused, as
 * allocators do. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "expect.h"

enum { page = 4096, pages = 64 };

static unsigned char* map(size_t bytes, int protection, int sharing) {
  void* memory = mmap(NULL, bytes, protection, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static int holds(const unsigned char* memory, size_t bytes, int value) {
  for (size_t k = 0; k < bytes; ++k) {
    if (memory[k] != (unsigned char)value) return 0;
  }
  return 1;
}

/* Each thread writes its share and, behind a barrier, reads its neighbour's. */
static int all_see_all(unsigned char* memory, size_t bytes) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    const size_t n = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num(), other = (me + 1) % n;
    memset(memory + bytes * me / n, (int)me + 1, bytes * (me + 1) / n - bytes * me / n);
#pragma omp barrier
    wrong += !holds(memory + bytes * other / n, bytes * (other + 1) / n - bytes * other / n, (int)other + 1);
  }
  return wrong == 0;
}

int main(void) {
  const int rw = PROT_READ | PROT_WRITE;
  const int sharings[] = {MAP_PRIVATE, MAP_SHARED};
  for (int i = 0; i < 2; ++i) {
    unsigned char* memory = map(pages * page, rw, sharings[i]);
    EXPECT(memory && (uintptr_t)memory % page == 0);
    EXPECT(holds(memory, pages * page, 0));
    EXPECT(all_see_all(memory, pages * page));
    EXPECT(munmap(memory, pages * page) == 0);
  }

  /* What comes after has zeros, whoever maps it. */
  static unsigned char* by_thread[1024];
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    const int me = omp_get_thread_num(), n = omp_get_num_threads();
    by_thread[me] = map(3 * page + 5, rw, MAP_PRIVATE);
    wrong += !holds(by_thread[me], 4 * page, 0);
    memset(by_thread[me], me + 1, 3 * page);
#pragma omp barrier
    wrong += !holds(by_thread[(me + 1) % n], 3 * page, (me + 1) % n + 1);
#pragma omp barrier
    wrong += munmap(by_thread[(me + 1) % n], 3 * page + 5) != 0;
#pragma omp barrier
    by_thread[me] = map(2 * page, rw, MAP_PRIVATE);
    wrong += !holds(by_thread[me], 2 * page, 0);
    wrong += munmap(by_thread[me], 2 * page) != 0;
  }
  EXPECT(wrong == 0);

  /* Aligned as allocators do it: too much is mapped, and what is over on either side is unmapped. */
  unsigned char* wide = map(pages * page, rw, MAP_PRIVATE);
  unsigned char* first = wide + 3 * page;
  EXPECT(munmap(wide, 3 * page) == 0);
  EXPECT(munmap(first + 40 * page, (pages - 43) * page) == 0);
  EXPECT(munmap(wide, page) == 0); /* once more changes nothing */
  EXPECT(all_see_all(first, 40 * page));

  /* Given back in the middle, and mapped anew there. */
  EXPECT(munmap(first + 10 * page, 5 * page) == 0);
  EXPECT(mmap(first + 11 * page, 2 * page, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == first + 11 * page);
  EXPECT(holds(first + 11 * page, 2 * page, 0));
  errno = 0;
  EXPECT(mmap(first + 20 * page, page, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED);
  EXPECT(errno == EEXIST);
  EXPECT(all_see_all(first + 11 * page, 2 * page));
  EXPECT(munmap(first, 11 * page) == 0 && munmap(first + 13 * page, 27 * page) == 0);
  EXPECT(all_see_all(first + 11 * page, 2 * page)); /* two pages are left */
  EXPECT(munmap(first + 11 * page, 2 * page) == 0);

  /* Reserved first, used later; cleared; protections that the program gives change nothing. */
  unsigned char* reserved = map((size_t)pages * page, PROT_NONE, MAP_PRIVATE);
  EXPECT(mprotect(reserved, pages * page, rw) == 0);
  EXPECT(all_see_all(reserved, pages * page));
  EXPECT(mprotect(reserved, page, PROT_READ) == 0 && mprotect(reserved, page, rw) == 0);
  EXPECT(madvise(reserved, pages * page, MADV_WILLNEED) == 0);
  EXPECT(mlock(reserved, pages * page) == 0 && munlock(reserved, pages * page) == 0);
  EXPECT(madvise(reserved + 8 * page, 8 * page, MADV_DONTNEED) == 0);
  EXPECT(reserved[8 * page - 1] != 0 && reserved[16 * page] != 0);
  /* Given back by taking all rights, and taken into use again. */
  EXPECT(mmap(reserved + 2 * page, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
         reserved + 2 * page);
  EXPECT(mprotect(reserved + 2 * page, page, rw) == 0);
  EXPECT(holds(reserved + 2 * page, page, 0));
  wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  wrong += !holds(reserved + 8 * page, 8 * page, 0);
  EXPECT(wrong == 0);

  /* Grown and cut. */
  memset(reserved, 7, pages * page);
  unsigned char* grown = mremap(reserved, pages * page, 2 * pages * page, MREMAP_MAYMOVE);
  EXPECT(grown != MAP_FAILED);
  EXPECT(holds(grown, pages * page, 7) && holds(grown + pages * page, pages * page, 0));
  EXPECT(all_see_all(grown, 2 * pages * page));
  EXPECT(mremap(grown, 2 * pages * page, 2 * page, 0) == grown);
  EXPECT(all_see_all(grown, 2 * page));
  EXPECT(munmap(grown, 2 * page) == 0);
  errno = 0;
  EXPECT(munmap(grown + 1, page) == -1 && errno == EINVAL);

  /* A page that is unmapped twice counts once: the last page of three stays its owner's. */
  unsigned char* three = map(3 * page, rw, MAP_PRIVATE);
  memset(three, 9, 3 * page);
  EXPECT(munmap(three, page) == 0 && munmap(three, page) == 0 && munmap(three + page, page) == 0);
  unsigned char* others = map(3 * page, rw, MAP_PRIVATE);
  memset(others, 1, 3 * page);
  EXPECT(holds(three + 2 * page, page, 9));
  EXPECT(munmap(three + 2 * page, page) == 0 && munmap(others, 3 * page) == 0);

  /* Of no mapping, and more than there can be. */
  unsigned char* last = map(page, rw, MAP_PRIVATE);
  memset(last, 1, page);
  errno = 0;
  EXPECT(munmap(last, SIZE_MAX - 4 * page) == -1 && errno == EINVAL);
  EXPECT(mremap(last, page, (size_t)1 << 62, MREMAP_MAYMOVE) == MAP_FAILED);
  EXPECT(holds(last, page, 1));
  EXPECT(munmap(last, page) == 0);
  return expect_status();
}
