// Built as on_exit with -O1
#define _DEFAULT_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static void say(int status, void* whose) {
  printf("%d %s\n", status, (const char*)whose);
}
int main(void) {
#pragma omp parallel
  on_exit(say, omp_get_thread_num() == 0 ? "initial" : "other");
  return 3;
}
