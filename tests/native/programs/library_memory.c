/* Memory that functions of the C library allocate inside of themselves for the program is the program's: any thread may
   make it, all others read it, and any frees it. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "expect.h"

enum { most_threads = 256 };

/* What one thread makes, another reads. */
typedef struct {
  wchar_t* wide;
  char *word, *read, *wide_word, *folder, *path;
} Objects;
static Objects of[most_threads];

static void make(Objects* own, int number) {
  wchar_t text[40];
  char line[40];
  swprintf(text, 40, L"wide %d", number);
  own->wide = wcsdup(text);
  snprintf(line, 40, "word%d rest", number);
  EXPECT(sscanf(line, "%ms", &own->word) == 1);
  EXPECT(swscanf(text, L"%ms", &own->wide_word) == 1);
  FILE* file = tmpfile();
  fputs(line, file);
  rewind(file);
  EXPECT(fscanf(file, "%m[a-z]", &own->read) == 1);
  fclose(file);
  own->folder = getcwd(NULL, 0);
  own->path = realpath("/etc/..", NULL);
}

static int is_right(Objects* other, int number) {
  wchar_t text[40];
  char line[40];
  swprintf(text, 40, L"wide %d", number);
  snprintf(line, 40, "word%d rest", number);
  const size_t word_bytes = strcspn(line, " ");
  return wcscmp(other->wide, text) == 0 && strlen(other->word) == word_bytes &&
         strncmp(other->word, line, word_bytes) == 0 && strcmp(other->wide_word, "wide") == 0 &&
         strcmp(other->read, "word") == 0 && other->folder[0] == '/' && strcmp(other->path, "/") == 0;
}

static void give_back(Objects* other) {
  free(other->wide);
  free(other->word);
  free(other->read);
  free(other->wide_word);
  free(other->folder);
  free(other->path);
}

int main(void) {
  int right = 0;
#pragma omp parallel reduction(+ : right)
  {
    const int number = omp_get_thread_num(), threads = omp_get_num_threads();
    make(&of[number], number);
#pragma omp barrier
    const int other = (number + 1) % threads;
    right = is_right(&of[other], other);
#pragma omp barrier
    give_back(&of[(number + 2) % threads]);
  }
  EXPECT(right == omp_get_max_threads());
  return expect_status();
}
