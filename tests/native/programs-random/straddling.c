/* Changes that meet where pages do, of whatever size: 4096 to 65536 bytes. Ends with 0 if all that was written is
 * found.
 *
 * straddling block: thread 1 writes pieces of a block of 40 * 4096 bytes, whose numbers tests/validation/
 *   test_native_page_sizes.py counts by hand, and reads all of it.
 * straddling globals: all threads write what lies between large arrays, and their ends and middles. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { part = 1024 /* words */, parts = 40 };

static void write_words(int* words, size_t first, size_t end) {
  for (size_t i = first; i < end; ++i) words[i] = (int)i + 1;
}

static int write_and_read_a_block(void) {
  int* const block = calloc(parts, part * sizeof *block);
  if (block == NULL) return 2;
  long sum = 0;
#pragma omp parallel
  {}
  omp_get_wtime();
#pragma omp parallel firstprivate(block)
  {
    if (omp_get_thread_num() == 1) {
      write_words(block, part - 1, part + 1);
      write_words(block, part + 3, part + 4);
      write_words(block, 15 * part - 2, 17 * part + 2);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
      long own = 0;
      for (size_t i = 0; i < parts * part; ++i) own += block[i];
#pragma omp critical
      sum = own;
    }
  }
  omp_get_wtime();
  long expected = 0;
  for (long i = part - 1; i < part + 1; ++i) expected += i + 1;
  expected += part + 4;
  for (long i = 15 * part - 2; i < 17 * part + 2; ++i) expected += i + 1;
  free(block);
  printf("%s\n", sum == expected ? "right" : "wrong");
  return sum == expected ? 0 : 1;
}

/* Of each array the whole pages of 4096 bytes are an array's own, the rest are globals', as is what lies between. */
int first[5000], between_first_and_second[3], second[7001], behind_second[9], third[1100], behind_third[70],
    fourth[40001], last[5];

static int write_globals(void) {
  struct {
    int* words;
    int count;
  } const all[] = {{first, 5000},   {between_first_and_second, 3},
                   {second, 7001},  {behind_second, 9},
                   {third, 1100},   {behind_third, 70},
                   {fourth, 40001}, {last, 5}};
  enum { rounds = 4, arrays = sizeof all / sizeof all[0] };
  int wrong = 0;
  for (int round = 1; round <= rounds; ++round) {
#pragma omp parallel
    {
      const int threads = omp_get_num_threads();
      for (int a = 0; a < arrays; ++a) {
        for (int i = omp_get_thread_num(); i < all[a].count; i += threads * (1 + i % 5)) all[a].words[i] += round + a;
      }
    }
    /* Each by another thread than wrote it. */
#pragma omp parallel
    {
      const int threads = omp_get_num_threads();
      int found = 0;
      for (int a = 0; a < arrays; ++a) {
        for (int i = (omp_get_thread_num() + 1) % threads; i < all[a].count; i += threads * (1 + i % 5))
          found += all[a].words[i] != round * (round + 1) / 2 + a * round;
      }
#pragma omp critical
      wrong += found;
    }
  }
  printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "block") == 0) return write_and_read_a_block();
  if (argc == 2 && strcmp(argv[1], "globals") == 0) return write_globals();
  fprintf(stderr, "straddling block|globals\n");
  return 2;
}
