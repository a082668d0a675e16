/* System calls and stdio by all threads at once, on one file that the initial thread opened. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

enum { part = 9000, parts = 16 };

int main(void) {
  FILE* file = tmpfile();
  EXPECT(file != NULL);
  if (!file) return expect_status();
  const int descriptor = fileno(file);
  char* out = malloc((size_t)part * parts);
  char* in = malloc((size_t)part * parts);
  EXPECT(out && in);
  if (!out || !in) return expect_status();

  // Each thread writes and reads its parts of one file: system calls on pages that it has not touched before.
  int wrong = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : wrong)
  for (int p = 0; p < parts; ++p) {
    for (int i = 0; i < part; ++i) out[p * part + i] = (char)(p + i % 100);
    wrong += pwrite(descriptor, out + p * part, part, (off_t)p * part) != part;
  }
  EXPECT(wrong == 0);
#pragma omp parallel for schedule(static, 3) reduction(+ : wrong)
  for (int p = 0; p < parts; ++p) wrong += pread(descriptor, in + p * part, part, (off_t)p * part) != part;
  EXPECT(wrong == 0);
  EXPECT(memcmp(in, out, (size_t)part * parts) == 0);

  // stdio in parallel: whole lines, none lost.
  rewind(file);
  EXPECT(ftruncate(descriptor, 0) == 0);
#pragma omp parallel for
  for (int i = 0; i < 500; ++i) fprintf(file, "line %d of %d\n", i, 500);
  rewind(file);
  static int seen[500];
  int lines = 0;
  int i = 0;
  while (fscanf(file, "line %d of 500\n", &i) == 1 && i >= 0 && i < 500) {
    ++seen[i];
    ++lines;
  }
  EXPECT(lines == 500);
  for (i = 0; i < 500; ++i) wrong += seen[i] != 1;
  EXPECT(wrong == 0);

  fclose(file);
  free(in);
  free(out);
  return expect_status();
}
