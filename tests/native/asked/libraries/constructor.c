// Built as constructor_library.so with -O2 -shared -fPIC -DNAME=library
// Built as constructor with -O2 -DNAME=own -DCALLED=library ./constructor_library.so
// Built as silent_stack with -O2 -DNAME=own -DCALLED=silent ./silent.so
// Calls, a lock, a region with work to share: in a constructor, where there is one thread.
#include <omp.h>
#include <stdio.h>
static int most, processors, members, done;
static omp_lock_t lock;
static omp_nest_lock_t nested;
static double time_s;
__attribute__((constructor)) static void begin(void) {
  most = omp_get_max_threads();
  processors = omp_get_num_procs();
  time_s = omp_get_wtime();
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  omp_unset_lock(&lock);
  if (omp_test_lock(&lock)) ++done;
  omp_unset_lock(&lock);
  omp_init_nest_lock(&nested);
  if (omp_test_nest_lock(&nested)) ++done;
  omp_unset_nest_lock(&nested);
#pragma omp critical
  ++done;
#pragma omp parallel num_threads(4)
  {
    members = omp_get_num_threads();
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; ++i) done += i;
#pragma omp single
    ++done;
#pragma omp barrier
#pragma omp task
    ++done;
  }
}
void NAME(void) {
  omp_set_lock(&lock);
  if (time_s < 0 || omp_get_wtime() <= time_s) ++done;
  printf("%d %d %d %d\n", most, processors, members, done);
  omp_unset_lock(&lock);
}
#ifdef CALLED
void CALLED(void);
int main(void) {
  CALLED();
  own();
  return 0;
}
#endif
