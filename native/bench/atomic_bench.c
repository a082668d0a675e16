/* What an atomic operation costs in a bare loop, under `sdsm run -n 2`; or what a breakpoint costs without anything.
 * Prints one JSON object, as microbench does: for each quantity the samples in nanoseconds, means of 100 each.
 *
 *   atomic_bench bare SAMPLES       breakpoint: int3 and a handler on a signal stack that does nothing
 *   atomic_bench atomics SAMPLES    atomic.own, atomic.remote: on a page that is at home here, or on the other node
 */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { each = 100, most_samples = 4096 };

static double samples[2][most_samples];
static long counter;

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void print_samples(const char* begin, const char* name, const double* values, int count) {
  printf("%s\"%s\": [", begin, name);
  for (int i = 0; i < count; ++i) printf("%s%.0f", i ? "," : "", values[i]);
  printf("]");
}

static void on_trap(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
}

static void measure_breakpoints(int count) {
  stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigfillset(&action.sa_mask);
  if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGTRAP, &action, NULL) != 0) exit(1);
  for (int i = 0; i < count; ++i) {
    const double begin = now_ns();
    for (int k = 0; k < each; ++k) __asm__ volatile("int3");
    samples[0][i] = (now_ns() - begin) / each;
  }
  print_samples("{", "breakpoint", samples[0], count);
}

static void measure_atomics(int count) {
#pragma omp parallel num_threads(2)
  for (int thread = 0; thread < 2; ++thread) {
#pragma omp barrier
    for (int i = -2; omp_get_thread_num() == thread && i < count; ++i) {
      const double begin = now_ns();
      for (int k = 0; k < each; ++k) __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
      if (i >= 0) samples[thread][i] = (now_ns() - begin) / each;
    }
  }
  if (counter != 2l * (count + 2) * each) exit(1);
  print_samples("{", "atomic.own", samples[0], count);
  print_samples(", ", "atomic.remote", samples[1], count);
}

int main(int argc, char** argv) {
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  if (count < 1 || count > most_samples) {
    fprintf(stderr, "usage: atomic_bench bare|atomics SAMPLES (1 to %d)\n", most_samples);
    return 2;
  }
  if (strcmp(argv[1], "bare") == 0) {
    measure_breakpoints(count);
  } else {
    measure_atomics(count);
  }
  printf("}\n");
  return 0;
}
