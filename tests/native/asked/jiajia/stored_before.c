#include <sched.h>
#include <stdio.h>
static int flag;
int main(void) {
  int wrong = 0;
  flag = 1;
#pragma omp parallel reduction(+ : wrong)
  {
    while (flag == 0) sched_yield();
    wrong += flag != 1;
  }
  printf("%d wrong\n", wrong);
  return 0;
}
