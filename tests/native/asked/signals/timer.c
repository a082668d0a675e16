#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile sig_atomic_t ticks;
static double values[1 << 14];
static void count(int number) {
  ticks++;
}
int main(void) {
  const struct itimerval timer = {{0, 300}, {0, 300}};
  signal(SIGALRM, count);
  setitimer(ITIMER_REAL, &timer, 0);
  for (int k = 0; k < 200; k++) {
#pragma omp parallel for
    for (int i = 0; i < (1 << 14); i++) values[i] += i * 0.5 + k;
  }
  printf("%g %d\n", values[1000], ticks > 0);
}
