// Built as hands_on_O0 with -O0
// Built as hands_on_O2 with -O2
// A ring of hand-overs without any other synchronisation, by a look in a function, with more and more pauses in
// between.
#include <omp.h>
#include <stdio.h>
enum { page = 1024, rounds = 10, most = 8 };
static int flag[most], data[most * page];
static __attribute__((noinline)) int look(const int* where) {
  return __atomic_load_n(where, __ATOMIC_ACQUIRE);
}
static void wait_for(const int* where, int round) {
  int pauses = 1;
  while (look(where) < round) {
    for (int i = 0; i < pauses; ++i) __builtin_ia32_pause();
    if (pauses < 1000) pauses *= 2;
  }
}
int main(void) {
  int threads = 1;
#pragma omp parallel shared(threads)
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads(), before = (me + all - 1) % all;
    if (me == 0) threads = all;
    for (int round = 1; round <= rounds; ++round) {
      if (me > 0 || round > 1) wait_for(&flag[before], me > 0 ? round : round - 1);
      for (int i = 0; i < page; ++i) data[me * page + i] = data[before * page + i] + 1;
      __atomic_store_n(&flag[me], round, __ATOMIC_RELEASE);
    }
  }
  printf("%d too many or too few\n", data[(threads - 1) * page] - threads * rounds);
  return 0;
}
