// Built as static_c_O0.so with -O0 -shared -fPIC
// Built as static_c_O2.so with -O2 -shared -fPIC
// Static arrays and statics of functions, memory from a constructor, thread-local data, a call back, allocation in a
// region.
#include <stdlib.h>
static int table[10000], *made, initialised[2000] = {7};
static __thread int own = 5;
__attribute__((constructor)) static void begin(void) {
  made = calloc(3000, sizeof *made);
  made[0] = 3;
  own = 6;
}
int fill(int n, int (*value)(int)) {
  int bad = own != 6 || made[0] != 3 || initialised[0] != 7;
#pragma omp parallel for reduction(+ : bad)
  for (int i = 0; i < n; ++i) {
    table[i] = value(i);
    if (i < 3000) made[i] = i + 2;
    if (i < 2000) initialised[i] += i;
    bad += ++own < 6;
  }
  for (int i = 0; i < n; ++i) bad += table[i] != value(i) || (i < 3000 && made[i] != i + 2);
  for (int i = 1; i < 2000; ++i) bad += initialised[i] != i;
  return bad;
}
