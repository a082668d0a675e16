/* epcc's groups of arrays: copied by clauses, and written by columns, one for each thread, with a flush. */
#include <omp.h>

#include "workloads/epcc.h"

/* Keeps the array: the compiler must assume that this reads it. */
static void show(double* array) {
  __asm__ volatile("" ::"r"(array) : "memory");
}

static void use(double* array) {
  array[0] += 1;
  show(array);
  delay();
}

void reference_array(void) {
  double array[1] = {0};
  for (int k = 0; k < own.repetitions; ++k) use(array);
}

static void write_column(int column, int k) {
  for (int row = 0; row < own.size; ++row) own.columns[(long)row * own.threads + column] = k;
  __asm__ volatile("" ::: "memory");
}

void reference_columns(void) {
  for (int k = 0; k < own.repetitions; ++k) {
    delay();
    write_column(0, k);
  }
}

static void time_flush(void) {
#pragma omp parallel
  for (int k = 0; k < own.repetitions; ++k) {
    delay();
    write_column(omp_get_thread_num(), k);
#pragma omp flush
  }
}

#define PRAGMA(text) _Pragma(#text)

/* Clauses over arrays of n elements: on the initial thread's stack for `private`, shared for `firstprivate`, each
 * thread's own for the others. `copyprivate` copies an array on the stack, which other threads can access. */
#define CLAUSES(n)                                                           \
  static double copied_##n[n];                                               \
  PRAGMA(omp threadprivate(copied_##n)) static void time_private_##n(void) { \
    double array[n];                                                         \
    for (int k = 0; k < own.repetitions; ++k) {                              \
      _Pragma("omp parallel private(array)") {                               \
        array[0] = 0;                                                        \
        use(array);                                                          \
      }                                                                      \
    }                                                                        \
  }                                                                          \
  static void time_firstprivate_##n(void) {                                  \
    static double array[n];                                                  \
    show(array);                                                             \
    for (int k = 0; k < own.repetitions; ++k) {                              \
      _Pragma("omp parallel firstprivate(array)") use(array);                \
    }                                                                        \
  }                                                                          \
  static void time_copyprivate_##n(void) {                                   \
    _Pragma("omp parallel") {                                                \
      double array[n];                                                       \
      array[0] = 0;                                                          \
      for (int k = 0; k < own.repetitions; ++k) {                            \
        _Pragma("omp single copyprivate(array)") use(array);                 \
      }                                                                      \
    }                                                                        \
  }                                                                          \
  static void time_copyin_##n(void) {                                        \
    for (int k = 0; k < own.repetitions; ++k) {                              \
      PRAGMA(omp parallel copyin(copied_##n)) use(copied_##n);               \
    }                                                                        \
  }
#define EACH_SIZE(one) \
  one(1) one(3) one(9) one(27) one(81) one(243) one(729) one(2187) one(6561) one(19683) one(59049) one(177147)
EACH_SIZE(CLAUSES)

typedef void (*run)(void);
#define PRIVATE(n) time_private_##n,
#define FIRSTPRIVATE(n) time_firstprivate_##n,
#define COPYPRIVATE(n) time_copyprivate_##n,
#define COPYIN(n) time_copyin_##n,
static const struct clause {
  const char* name;
  run runs[array_sizes];
} clauses[] = {
    {"PRIVATE", {EACH_SIZE(PRIVATE)}},
    {"FIRSTPRIVATE", {EACH_SIZE(FIRSTPRIVATE)}},
    {"COPYPRIVATE", {EACH_SIZE(COPYPRIVATE)}},
    {"COPYIN", {EACH_SIZE(COPYIN)}},
};

int add_arrays(struct directive* all, int count) {
  for (unsigned clause = 0; clause < sizeof clauses / sizeof clauses[0]; ++clause) {
    for (int i = 0, size = 1; i < array_sizes; ++i, size *= 3) {
      all[count++] = (struct directive){clauses[clause].name, clauses[clause].runs[i], of_array, arrays, size};
    }
  }
  for (int size = 1; size <= largest_array; size *= 3) {
    all[count++] = (struct directive){"FLUSH", time_flush, of_columns, flushes, size};
  }
  return count;
}
