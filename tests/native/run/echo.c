/* Shows what it was started with: echo [cat|status N|sleep SECONDS|close] */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  printf("%d threads", omp_get_max_threads());
  for (int i = 1; i < argc; ++i) printf(" %s", argv[i]);
  printf("\n");
  fflush(stdout);
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "cat") == 0) {
    for (int sign; (sign = getchar()) != EOF;) putchar(sign);
  } else if (strcmp(what, "status") == 0) {
    return atoi(argv[2]);
  } else if (strcmp(what, "sleep") == 0) {
    sleep((unsigned)atoi(argv[2]));
  } else if (strcmp(what, "files") == 0) {
    for (int i = 3; i < 1024; ++i) {
      if (fcntl(i, F_GETFD) >= 0) printf("%d\n", i);
    }
  }
  return 0;
}
