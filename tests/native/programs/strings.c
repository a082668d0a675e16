/* What the C library allocates for the program is the program's: every thread sees it, and it can be freed. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

int main(void) {
  char* copy = strdup("copy of a text");
  char* part = strndup("part of a text", 4);
  char* printed = NULL;
  const int length = asprintf(&printed, "%s %d %s", "printed", 42, "in parts");
  char* path = realpath("/", NULL);
  FILE* file = tmpfile();
  EXPECT(file != NULL);
  fprintf(file, "first line\nand a second one that is longer%*s\nlast", 500, "");
  rewind(file);
  char* lines[3] = {NULL, NULL, NULL};
  size_t rooms[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) EXPECT(getline(&lines[i], &rooms[i], file) > 0);
  char* field = NULL;
  size_t field_room = 0;
  rewind(file);
  EXPECT(getdelim(&field, &field_room, ' ', file) == 6);
  EXPECT(getdelim(&field, &field_room, 'z', file) > 500);
  EXPECT(getline(&field, &field_room, file) == -1);
  fclose(file);
  int seen = 0;
#pragma omp parallel
  {
    const int is_right = strcmp(copy, "copy of a text") == 0 && strcmp(part, "part") == 0 &&
                         strncmp(printed, "printed 42 ", 11) == 0 && (int)strlen(printed) == length &&
                         strcmp(path, "/") == 0 && strcmp(lines[0], "first line\n") == 0 && strlen(lines[1]) > 500 &&
                         strcmp(lines[2], "last") == 0 && strncmp(field, "line\nand", 8) == 0;
#pragma omp critical
    seen += is_right;
  }
  EXPECT(seen == omp_get_max_threads());
  free(copy);
  free(part);
  free(printed);
  free(path);
  free(field);
  for (int i = 0; i < 3; ++i) free(lines[i]);
  return expect_status();
}
