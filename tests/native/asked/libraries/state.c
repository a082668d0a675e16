#include <locale.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static int right, members;
static void look(const char* name, unsigned mode, unsigned mode_of_others, size_t most_bytes) {
  right = members = 0;
#pragma omp parallel reduction(+ : right, members)
  {
    char file[100];
    struct stat status;
    snprintf(file, sizeof file, "%s%d", name, omp_get_thread_num());
    FILE* made = fopen(file, "w");
    if (made != NULL) fclose(made);
    ++members;
    right += stat(file, &status) == 0 &&
             (status.st_mode & 0777) == (omp_get_thread_num() > 0 ? mode_of_others : mode) && MB_CUR_MAX == most_bytes;
  }
  printf("%d of %d\n", right, members);
}
int main(void) {
  look("first", 0644, 0644, 1);
  if (chdir("inside") != 0 || setlocale(LC_ALL, "C.UTF-8") == NULL) return 1;
  umask(077);
  look("second", 0600, 0600, 6);
#pragma omp parallel
  if (omp_get_thread_num() > 0) umask(027); /* its own */
#pragma omp parallel
  if (omp_get_thread_num() > 0 && umask(027) != 027) abort();
  setlocale(LC_ALL, "C");
  look("third", 0600, 0640, 1);
  return 0;
}
