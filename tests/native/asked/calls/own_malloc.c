// Built as own_malloc with -O1 -w -fno-builtin
// Memory by the program's own malloc, which the C library calls, too. Large blocks begin pages that nobody has touched:
// the kernel must not be given them as a stream's buffer.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char arena[1 << 22] __attribute__((aligned(4096)));
static size_t used;
void* malloc(size_t bytes) {
  char* block = arena + __atomic_fetch_add(&used, (bytes + 8207) & ~(size_t)15, __ATOMIC_SEQ_CST) + 16;
  if (bytes >= 1024) block = arena + ((block - arena + 4095) & ~(size_t)4095);
  ((size_t*)block)[-2] = bytes;
  return block;
}
void free(void* block) {
  if (block != NULL && ((char*)block < arena || (char*)block >= arena + sizeof arena)) __builtin_trap();
}
void* calloc(size_t count, size_t bytes) {
  return memset(malloc(count * bytes), 0, count * bytes);
}
void* realloc(void* old, size_t bytes) {
  char* block = malloc(bytes);
  const size_t before = old == NULL ? 0 : ((size_t*)old)[-2];
  if (before > 0) memcpy(block, old, before < bytes ? before : bytes);
  return block;
}
int main(void) {
  char *line = NULL, *text;
  size_t room = 0;
  FILE* file = fopen("/etc/passwd", "r");
  if (getline(&line, &room, file) < 1 || asprintf(&text, "%s", line) < 1) return 1;
  free(realpath("/etc", NULL));
  fclose(file);
  file = fdopen(dup(fileno(tmpfile())), "r+");
  fputs("x", file), rewind(file);
  if (getc(file) != 'x') return 2;
  fclose(file);
  setvbuf(stdin, NULL, _IONBF, 0);
  fclose(stdin);
  fclose(stderr);
  int* numbers = calloc(1000, sizeof *numbers);
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) numbers[i] = i + (line[0] != text[0]);
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += numbers[i];
  free(line);
  free(text);
  printf("%d\n", sum);
}
