/* The heap in parallel: small and large blocks, resized, zeroed, aligned, and freed by threads that did not make them.
 */
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { blocks = 128 };

static size_t size_of(int i) {
  return i % 8 == 0 ? 20000u + (size_t)i * 100 : 1u + (size_t)i * 13;
}

static int holds(const unsigned char* block, size_t bytes, int value) {
  for (size_t k = 0; k < bytes; ++k) {
    if (block[k] != (unsigned char)value) return 0;
  }
  return 1;
}

static void written_last(void) {
  // Serial code writes a block, frees it, and writes others at the same addresses: the others find what was written
  // last.
  enum { page = 16 * 4096, pages = 8 };  // blocks begin on multiples of 64 KiB
  for (int skipped = 1; skipped < pages; ++skipped) {
    unsigned char* first = malloc(pages * page);
    // Volatile: the compiler knows that a block's last contents are lost.
    for (volatile unsigned char* byte = first; byte && byte < first + pages * page; ++byte)
      *byte = (unsigned char)skipped;
    free(first);
    unsigned char* before = malloc((size_t)skipped * page);
    const size_t bytes = (size_t)(pages - skipped) * page;
    unsigned char* last = malloc(bytes);
    EXPECT(first && before && last);
    if (last) memset(last, 100 + skipped, bytes);
    int others_wrong = 0;
#pragma omp parallel
    {
      const int is_wrong = !last || !holds(last, bytes, 100 + skipped);
#pragma omp critical
      others_wrong += is_wrong;
    }
    EXPECT(others_wrong == 0);
    free(last);
    free(before);
  }
}

static void resized_by_others(void) {
  static unsigned char* block[blocks];
  int wrong = 0;
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < blocks; ++i) {
    block[i] = malloc(size_of(i));
    if (block[i]) memset(block[i], i, size_of(i));
  }
  // What one thread wrote, another reads, resizes and lets go.
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int i = blocks - 1; i >= 0; --i) {
    wrong += !block[i] || !holds(block[i], size_of(i), i);
    unsigned char* larger = realloc(block[i], 2 * size_of(i) + 5000);
    wrong += !larger || !holds(larger, size_of(i), i);
    if (!larger) continue;
    memset(larger, 255 - i, 2 * size_of(i) + 5000);
    block[i] = realloc(larger, size_of(i) / 2 + 1);
  }
  EXPECT(wrong == 0);
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < blocks; ++i) {
    wrong += !block[i] || !holds(block[i], size_of(i) / 2 + 1, 255 - i);
    free(block[i]);
  }
  EXPECT(wrong == 0);
}

static void aligned_and_zeroed(void) {
  int wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < 64; ++i) {
    const size_t alignment = (size_t)16 << i % 9;  // 16 to 4096
    void* posix = NULL;
    unsigned char* aligned = aligned_alloc(alignment, alignment * 3);
    unsigned char* zeroed = calloc(300, 7);
    wrong += posix_memalign(&posix, alignment, 777) != 0;
    wrong += !aligned || (uintptr_t)aligned % alignment != 0 || (uintptr_t)posix % alignment != 0;
    wrong += !zeroed || !holds(zeroed, 2100, 0);
    if (aligned) memset(aligned, i, alignment * 3);
    if (posix) memset(posix, i, 777);
    if (zeroed) memset(zeroed, i, 2100);
    wrong += !aligned || !posix || !holds(aligned, alignment * 3, i) || !holds(posix, 777, i);
    free(aligned);
    free(posix);
    free(zeroed);
  }
  EXPECT(wrong == 0);
}

static void apart_from_each_other(void) {
  int wrong = 0;
  // Blocks do not overlap, however many threads ask at once.
  static int* mine[1000];
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) {
    mine[i] = malloc(sizeof(int));
    if (mine[i]) *mine[i] = i;
  }
  for (int i = 0; i < 1000; ++i) wrong += !mine[i] || *mine[i] != i;
  EXPECT(wrong == 0);
#pragma omp parallel for schedule(dynamic, 3)
  for (int i = 0; i < 1000; ++i) free(mine[i]);
}

static void zero_again(void) {
  // What is freed and allocated again is zero if it is asked to be, whatever its size and whoever wrote it.
  for (size_t size = 100; size <= 1000000; size *= 10) {
    unsigned char* used = malloc(size);
    EXPECT(used != NULL);
    if (!used) continue;
#pragma omp parallel for
    for (size_t k = 0; k < size; ++k) used[k] = (unsigned char)(k % 255 + 1);
    free(used);
    unsigned char* zeroed = calloc(size, 1);
    EXPECT(zeroed && holds(zeroed, size, 0));
    int others_wrong = 0;
#pragma omp parallel
    {
      const int is_wrong = !zeroed || !holds(zeroed, size, 0);
#pragma omp critical
      others_wrong += is_wrong;
    }
    EXPECT(others_wrong == 0);
    free(zeroed);
  }
}

static void without_room(void) {
  free(NULL);
  char* copy = strdup("a string");
  EXPECT(copy && strcmp(copy, "a string") == 0);
  free(copy);
  volatile size_t too_much = SIZE_MAX / 4;
  EXPECT(malloc(too_much) == NULL);
  EXPECT(calloc(too_much, 8) == NULL);
}

int main(void) {
  written_last();
  resized_by_others();
  aligned_and_zeroed();
  apart_from_each_other();
  zero_again();
  without_room();
  return expect_status();
}
