// Each thread reads the other's pages, all of which it has lost at the barrier, and then writes its own.
// Arguments: the turns of a pause; "usual", or a file that thread 1 makes amid 4000 pauses in round 4, and for which
// thread 0 waits; where the initial thread reads its clock: b1 is behind the barrier of round 1, e1 before its second.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { pages = 64, words = 512, rounds = 6 };
static double a[2 * pages * words] __attribute__((aligned(4096)));
static double readings[3];
static int taken;
static void look(int count, char** when, char place, int round) {
#pragma omp master
  for (int i = 0; i < count; ++i) {
    if (when[i][0] == place && atoi(when[i] + 1) == round) readings[taken++] = omp_get_wtime();
  }
}
static void pause_for(int turns) {
  for (volatile int i = 0; i < turns; ++i) {
  }
}
int main(int count, char** arguments) {
  const int turns = atoi(arguments[1]), is_late = strcmp(arguments[2], "usual") != 0;
#pragma omp parallel num_threads(2)
  {
    const int me = omp_get_thread_num();
    double* const mine = a + me * pages * words;
    const double* const others = a + (1 - me) * pages * words;
    for (int r = 0; r < rounds; ++r) {
#pragma omp barrier
      look(count - 3, arguments + 3, 'b', r);
      for (int i = 0; is_late && me == 1 && r == 4 && i < 4000; ++i) {
        pause_for(turns);
        if (i == 2000) fclose(fopen(arguments[2], "w"));
      }
      pause_for(turns);
      double sum = 0;
      for (int p = 0; p < pages; ++p) sum += others[p * words];
      pause_for(turns);
      while (is_late && me == 0 && r == 4 && access(arguments[2], F_OK) != 0) usleep(1000);
      look(count - 3, arguments + 3, 'e', r);
#pragma omp barrier
      for (int p = 0; p < pages; ++p) mine[p * words] += sum + 1;
    }
  }
  return readings[0] <= readings[1] && readings[1] <= readings[2] ? 0 : 1;
}
