// Built as opens with -O1
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int file = open("opens.txt", O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (strcmp(what, "higher") == 0) file = fcntl(file, F_DUPFD, 250);
  FILE* stream = fdopen(dup(file), "w");
  if (strcmp(what, "output") == 0) dup2(file, 1);
  int wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
  {
    if (strcmp(what, "descriptor") == 0 || strcmp(what, "higher") == 0) wrong += write(file, "x\n", 2) != 2;
    if (strcmp(what, "stream") == 0) wrong += fputs("x\n", stream) < 0;
    if (strcmp(what, "output") == 0) wrong += puts("x") < 0;
    if (strcmp(what, "alone") == 0 && omp_get_thread_num() == 0) wrong += fputs("x\nx\n", stream) < 0;
  }
  fclose(stream);
  return wrong != 0 || lseek(file, 0, SEEK_END) != 4;
}
