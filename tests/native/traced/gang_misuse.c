/* Misuses gangs as its argument says: each has to end with a line, and none may hang. */
#include <sdsm/divide.h>
#include <stdlib.h>
#include <string.h>

static void misuse(const char* how) {
  const int me = omp_get_thread_num();
  if (strcmp(how, "many") == 0) {
    sdsm_divide(sdsm_by_block, omp_get_num_threads() + 1, 1);
  } else if (strcmp(how, "none") == 0) {
    sdsm_divide(sdsm_by_block, 0, 1);
  } else if (strcmp(how, "units") == 0) {
    sdsm_divide(sdsm_by_round_robin, 2, omp_get_num_threads());
  } else if (strcmp(how, "unit") == 0) {
    sdsm_divide(sdsm_by_round_robin, 2, 0);
  } else if (strcmp(how, "partition") == 0) {
    sdsm_divide((enum sdsm_partition)7, 2, 1);
  } else if (strcmp(how, "loop") == 0) {
    sdsm_for_begin(0, 10);
    sdsm_divide(sdsm_by_block, 2, 1);
  } else if (strcmp(how, "inner_loop") == 0) {
    SDSM_DIVIDE(sdsm_by_block, 2, 1) {
      sdsm_for_begin(0, 10);
      SDSM_DIVIDE(sdsm_by_block, 1, 1) {}
    }
  } else if (strcmp(how, "loop_barrier") == 0) {
    sdsm_for_begin(0, 10);
    sdsm_gang_barrier();
  } else if (strcmp(how, "loop_end") == 0) {
    sdsm_for_end();
  } else if (strcmp(how, "loop_unite") == 0) {
    SDSM_DIVIDE(sdsm_by_block, 2, 1) sdsm_for_begin(0, 10);
  } else if (strcmp(how, "unite") == 0) {
    sdsm_unite();
  } else if (strcmp(how, "barrier") == 0) {
    /* Thread 1 leaves the gang, thread 0 waits for it there. */
    SDSM_DIVIDE(sdsm_by_block, 2, 1) {
      if (me == 0) sdsm_gang_barrier();
    }
  } else if (strcmp(how, "inner_barrier") == 0) {
    SDSM_DIVIDE(sdsm_by_block, 1, 1) SDSM_DIVIDE(sdsm_by_block, 2, 1) SDSM_DIVIDE(sdsm_by_block, 1, 1) {
      if (me == 3) sdsm_gang_barrier();
    }
  } else if (strcmp(how, "alike") == 0) {
    /* Both ways give the same two gangs of four threads. */
    SDSM_DIVIDE(me < 2 ? sdsm_by_block : sdsm_by_round_robin, 2, me < 2 ? 1 : 2) sdsm_gang_barrier();
  } else if (strcmp(how, "inner_alike") == 0) {
    SDSM_DIVIDE(sdsm_by_block, 2, 1) SDSM_DIVIDE(me % 2 == 0 ? sdsm_by_block : sdsm_by_round_robin, 2, 1) {}
  } else if (strcmp(how, "some") == 0) {
    /* The others wait at a barrier of the team, which dividing threads come to at the end. */
    if (me == 2) {
      SDSM_DIVIDE(sdsm_by_block, 4, 1) {}
    } else {
      sdsm_gang_barrier();
    }
  } else if (strcmp(how, "some_until_the_end") == 0) {
    if (me == 2) SDSM_DIVIDE(sdsm_by_block, 4, 1) {
      }
  } else if (strcmp(how, "inner_some") == 0) {
    SDSM_DIVIDE(sdsm_by_block, 2, 1) {
      if (me == 0) SDSM_DIVIDE(sdsm_by_block, 2, 1) {
        }
      else
        sdsm_gang_barrier();
    }
  } else if (strcmp(how, "exit") == 0) {
    /* Right: the program ends before this thread comes to the gang. */
    if (me == 1) exit(3);
    SDSM_DIVIDE(sdsm_by_block, 2, 1) sdsm_gang_barrier();
  } else if (strcmp(how, "no_unite") == 0) {
    sdsm_divide(sdsm_by_block, 2, 1);
  } else if (strcmp(how, "omp_barrier") == 0) {
    SDSM_DIVIDE(sdsm_by_block, 2, 1) {
#pragma omp barrier
    }
  } else if (strcmp(how, "omp_for") == 0) {
    SDSM_DIVIDE(sdsm_by_block, 2, 1) {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 10; ++i) (void)how;
    }
  } else {
    SDSM_DIVIDE(sdsm_by_block, me == 0 ? 1 : 2, 1) sdsm_gang_barrier();
  }
}

int main(int argc, char** argv) {
  (void)argc;
#pragma omp parallel num_threads(4)
  misuse(argv[1]);
  if (strcmp(argv[1], "no_unite") == 0) sdsm_unite();
  return 0;
}
