// Built as arrays with -O2 ./libarrays.so
// Built as arrays_stripped with -O2 -no-pie -s ./libarrays.so
#include <stdio.h>
int work(int);
#define N 32768 /* 64 pages of doubles */
_Alignas(4096) static double a[N];
_Alignas(4096) double b[N], filled[N] = {1, 2, 3};
double unaligned[N + 3];
char small[300], odd[9001];
static int made[5000];
__attribute__((constructor)) static void begin(void) {
  made[4000] = 3;
}
static void add(int i) {
  _Alignas(4096) static double inner[N];
  inner[i] += a[i] + b[N - 1 - i];
  b[i] += 0;
}
int main(void) {
  int bad = 0;
  for (int i = 0; i < N; i += 100) unaligned[i + 1] = 1;
  for (int i = 0; i < 9001; ++i) odd[i] = 1;
  for (int t = 0; t < 2; ++t) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; ++i) {
      a[i] += i;
      b[i] += 2;
      filled[i] += 1;
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; ++i) {
      unaligned[i + 1] = a[i];
      if (i < 9001) odd[i] += 1;
      if (i < 5000) made[i] += 2;
      if (i < 300) small[i] += 1;
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; ++i) add(i);
    bad += work(t + 1);
  }
  for (int i = 0; i < N; ++i) {
    bad += a[i] != 2 * i || unaligned[i + 1] != a[i] || b[i] != 4 || filled[i] != 2 + (i < 3 ? i + 1 : 0);
    if (i < 9001) bad += odd[i] != 3;
    if (i < 5000) bad += made[i] != 4 + 3 * (i == 4000);
  }
  return bad != 0;
}
