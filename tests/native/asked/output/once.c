// Makes a file that must not be there, and does more where another file of its own is there already.
#include <stdio.h>
int main(void) {
  FILE* out = fopen("out.dat", "wx");
  if (!out) return 3;
  fclose(out);
  FILE* restart = fopen("restart", "r");
  const int from = restart ? 500 : 0;
  fclose(restart ? restart : fopen("restart", "w"));
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = from; i < 1000; ++i) sum += i;
  printf("%d\n", sum);
  return 0;
}
