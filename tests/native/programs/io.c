/* Input and output by the initial thread, by the system and by stdio, on heap blocks, globals and its stack: data that
 * other threads wrote goes out, data that is read reaches them. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "expect.h"

enum { part = 9000, parts = 16 };
static char global_block[part];

int main(void) {
  FILE* file = tmpfile();
  EXPECT(file != NULL);
  if (!file) return expect_status();
  const int descriptor = fileno(file);
  char* out = malloc((size_t)part * parts);
  char* in = malloc((size_t)part * parts);
  EXPECT(out && in);
  if (!out || !in) return expect_status();

  int wrong = 0;
#pragma omp parallel for
  for (int i = 0; i < part * parts; ++i) out[i] = (char)(i % 97);
  EXPECT(ftruncate(descriptor, 0) == 0 && lseek(descriptor, 0, SEEK_SET) == 0);
  EXPECT(fwrite(out, 1, (size_t)part * parts, file) == (size_t)part * parts);
  EXPECT(fflush(file) == 0);
  rewind(file);
  memset(in, 0, (size_t)part * parts);
  EXPECT(fread(in, 1, (size_t)part * parts, file) == (size_t)part * parts);
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < part * parts; ++i) wrong += in[i] != (char)(i % 97);
  EXPECT(wrong == 0);

  // Globals, the initial thread's stack and scattered pieces.
  char on_stack[part];
  struct iovec pieces[3] = {{global_block, part}, {on_stack, part}, {in, part}};
  EXPECT(lseek(descriptor, 0, SEEK_SET) == 0);
  EXPECT(readv(descriptor, pieces, 3) == 3 * part);
  EXPECT(memcmp(global_block, out, part) == 0);
  EXPECT(memcmp(on_stack, out + part, part) == 0);
  EXPECT(memcmp(in, out + 2 * part, part) == 0);
  EXPECT(lseek(descriptor, 0, SEEK_SET) == 0);
  EXPECT(writev(descriptor, pieces, 3) == 3 * part);
  EXPECT(lseek(descriptor, 0, SEEK_SET) == 0);
  EXPECT(read(descriptor, in + 1, part) == part);  // across a page boundary
  EXPECT(memcmp(in + 1, out, part) == 0);

  // A pipe, and a system call that fails as it should.
  int ends[2];
  EXPECT(pipe(ends) == 0);
  EXPECT(write(ends[1], out, 4000) == 4000);
  EXPECT(read(ends[0], in, 4000) == 4000);
  EXPECT(memcmp(in, out, 4000) == 0);
  close(ends[0]);
  close(ends[1]);
  errno = 0;
  EXPECT(read(-1, in, 10) == -1 && errno == EBADF);

  char* text = NULL;
  EXPECT(asprintf(&text, "%d %s", 42, "words") == 8 && text && strcmp(text, "42 words") == 0);
  free(text);
  fclose(file);
  free(in);
  free(out);
  return expect_status();
}
