/* Touches every second page of a large array: more pages of a protection of their own than a process may have mappings
 * (vm.max_map_count, usually 65530). Ends with 0 if every page has what was written to it.
 *
 * alternating [PAGES] */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { page_bytes = 4096, words_of_page = page_bytes / 8 };

static uint64_t* words;
static size_t pages;

static uint64_t* page(size_t number) {
  return words + number * words_of_page;
}

int main(int argc, char** argv) {
  pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 140000;
  words = malloc((pages + 1) * page_bytes);
  if (words == NULL) return 2;
  /* Whole pages, whose homes take turns. */
  words = (uint64_t*)(((uintptr_t)words + page_bytes - 1) / page_bytes * page_bytes);
  /* In several regions: pages that rest from an earlier one have mappings of their own, too. */
  enum { parts = 5 };
  for (size_t part = 0; part < parts; ++part) {
#pragma omp parallel
    {
      const size_t own = (size_t)omp_get_thread_num();
      const size_t all = (size_t)omp_get_num_threads();
      const size_t begin = pages / parts * part / all * all;
      const size_t end = pages / parts * (part + 1) / all * all;
      for (size_t i = begin + own; i < end; i += all) page(i)[0] += 1000000 + i;
    }
  }
  const size_t written = pages / parts * parts / (size_t)omp_get_max_threads() * (size_t)omp_get_max_threads();
  size_t wrong = 0;
#pragma omp parallel
  {
    /* Some of the others' pages, and between them the own ones again. */
    const size_t own = (size_t)omp_get_thread_num();
    const size_t all = (size_t)omp_get_num_threads();
    size_t found = 0;
    for (size_t i = 0; i < written; i += i % all == own ? 1 : 97) {
      if (page(i)[0] != 1000000 + i) ++found;
    }
#pragma omp critical
    wrong += found;
  }
  printf("%zu wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
