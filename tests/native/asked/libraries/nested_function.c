// Built as nested_function with -O2
#include <stdio.h>
static int twice(int (*f)(int)) {
  return f(1) + f(2);
}
int main(int argc, char** argv) {
  int add(int x) {
    return x + argc;
  }
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 4; ++i) sum += twice(add);
  printf("%d\n", sum);
}
