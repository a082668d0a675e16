/* Usage: blind_waits calls|run-time|deadline|deadline-by-calls|histogram|turns|sleeps|pauses|double|float|long-double|
 * integer|twelfth|one-loop. Threads wait for a plain store in loops that neither the code nor the registers show: they
 * call a function for each poll, read a clock, count in an array, stop after so many turns, sleep, back off by more and
 * more pauses. They have an older copy of the flag's page and of what it hands on. Prints "0 older, 0 late" and ends
 * with status 0, or how many, and 1. */
#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { page_words = 4096 / sizeof(int), rounds = 5, threads_at_most = 64 };
static int data[page_words] __attribute__((aligned(4096)));
static int flag[page_words] __attribute__((aligned(4096)));
/* As flags, too, on the same page. */
static volatile double* const double_flag = (volatile double*)&flag[8];
static volatile float* const float_flag = (volatile float*)&flag[16];
static volatile long double* const long_double_flag = (volatile long double*)&flag[32];
static long counted[threads_at_most][512] __attribute__((aligned(4096)));

static int load(const int* where) {
  return __atomic_load_n(where, __ATOMIC_ACQUIRE);
}
static __attribute__((noinline)) int is_at(const int* where, int round) {
  __asm__ volatile("");
  return load(where) == round;
}
static int is_over(struct timespec begun) {
  const long most_seconds = 100;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec - begun.tv_sec > most_seconds;
}

/* By a register that only a longer prefix of AVX names. */
static int is_below(volatile double* where, double value) {
  double now;
  if (!__builtin_cpu_supports("avx")) return *where < value;
  __asm__ volatile("mov %1, %%r12\n\tvmovsd (%%r12), %0" : "=x"(now) : "r"(where) : "r12");
  return now < value;
}

static int pause_by_chance(unsigned* seed) {
  *seed = *seed * 1664525 + 1013904223;
  for (unsigned i = 0; i < (*seed >> 16) % 50; ++i) __builtin_ia32_pause();
  return 1;
}

/* All threads are in the same loop. Thread 0 counts down what the others wait for, by an operation each turn. */
static int count_down_in_one_loop(void) {
  const int team = omp_get_max_threads() + 1; /* more than the run has by default */
  int left = 10, turns = 0;
#pragma omp parallel num_threads(team)
  for (;;) {
    int now;
#pragma omp atomic read
    now = left;
    if (now <= 0) break;
    if (omp_get_thread_num() == 0) {
      ++turns;
#pragma omp atomic
      --left;
    }
  }
  return turns;
}

/* Whether it stopped waiting. */
static int wait_for(int round, const char* how, long* counts) {
  const struct timespec shortly = {0, 1000000};
  struct timespec begun;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  long turn = 0;
  if (strcmp(how, "calls") == 0) {
    while (!is_at(&flag[0], round)) turn = turn * 3 + 1;
  } else if (strcmp(how, "run-time") == 0) {
    while (load(&flag[0]) != round && omp_get_thread_num() != 0) continue;
  } else if (strcmp(how, "deadline") == 0) {
    while (load(&flag[0]) != round)
      if (is_over(begun)) return 1;
  } else if (strcmp(how, "deadline-by-calls") == 0) {
    while (!is_at(&flag[0], round))
      if (is_over(begun)) return 1;
  } else if (strcmp(how, "histogram") == 0) {
    while (load(&flag[0]) != round) ++counts[++turn & 511];
  } else if (strcmp(how, "turns") == 0) {
    while (load(&flag[0]) != round)
      if (++turn > 100000000000) return 1;
  } else if (strcmp(how, "pauses") == 0) {
    for (int pauses = 1; !is_at(&flag[0], round); pauses = pauses < 1000 ? 2 * pauses : pauses)
      for (int i = 0; i < pauses; ++i) __builtin_ia32_pause();
  } else if (strcmp(how, "double") == 0) {
    for (unsigned seed = 1; *double_flag < round; pause_by_chance(&seed)) continue;
  } else if (strcmp(how, "float") == 0) {
    for (unsigned seed = 1; *float_flag != round; pause_by_chance(&seed)) continue;
  } else if (strcmp(how, "long-double") == 0) {
    for (unsigned seed = 1; *long_double_flag < 1L << round; pause_by_chance(&seed)) continue;
  } else if (strcmp(how, "integer") == 0) {
    for (unsigned seed = 1; ((volatile int*)flag)[0] < round - 0.5; pause_by_chance(&seed)) continue;
  } else if (strcmp(how, "twelfth") == 0) {
    for (unsigned seed = 1; is_below(double_flag, round); pause_by_chance(&seed)) continue;
  } else {
    while (!is_at(&flag[0], round)) nanosleep(&shortly, NULL);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int older = 0, late = 0;
  if (strcmp(argv[1], "one-loop") == 0) {
    printf("%d turns\n", count_down_in_one_loop());
    return 0;
  }
  *long_double_flag = 1;
#pragma omp parallel reduction(+ : older, late)
  for (int round = 1; round <= rounds; ++round) {
    const int me = omp_get_thread_num();
    if (data[0] != round - 1 || load(&flag[0]) != round - 1) ++older;
#pragma omp barrier
    if (me == 0) {
      /* Until the others wait; nothing of this is an operation that orders memory. */
      for (volatile int i = 0; i < 10000000; ++i) continue;
      data[0] = round;
      *double_flag = *float_flag = round;
      *long_double_flag = 1L << round; /* of which the exponent alone changes */
      __atomic_store_n(&flag[0], round, __ATOMIC_RELEASE);
    } else {
      late += wait_for(round, argv[1], counted[me]);
      older += data[0] != round;
    }
#pragma omp barrier
  }
  printf("%d older, %d late\n", older, late);
  return older != 0 || late != 0;
}
