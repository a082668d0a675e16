// Built as address_of_malloc with -O1 -w -fno-pie -no-pie
// An address of the program's own stands for the function, which is not the program's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void* (*volatile allocate)(size_t) = malloc;
int main(void) {
  char* text = strdup("hello");
  int wrong = allocate != malloc;
  free(allocate(10));
#pragma omp parallel reduction(+ : wrong)
  wrong += strcmp(text, "hello") != 0;
  printf("%d wrong\n", wrong);
}
