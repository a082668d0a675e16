/* Declarations that the groups of the program epcc share. */
#ifndef SDSM_EPCC_H
#define SDSM_EPCC_H

/* The numbers that the timed loops read, each thread's own. A shared variable would cost a page fault after each
 * barrier, and so would arguments of a parallel region, which lie on the initial thread's stack. */
struct epcc_numbers {
  int repetitions; /* in a sample, of all threads together */
  int share;       /* repetitions of each thread, where one thread does a repetition */
  int delay;       /* additions of the delay */
  int threads;
  int iterations;  /* of a scheduled loop, for each thread */
  int size;        /* of a chunk, or of an array in elements */
  char* rows;      /* one page for each iteration, by blocks */
  double* columns; /* an array of `size` rows, with a column for each thread */
};
extern struct epcc_numbers own;
#pragma omp threadprivate(own)

void delay(void);

enum group { synchronisation, scheduling, arrays, flushes, groups };
/* The same work in sequential code. */
enum reference { of_delay, of_atomic, of_reduction, of_loop, of_array, of_columns, references };

struct directive {
  const char* name;
  void (*run)(void);
  enum reference reference;
  enum group group;
  int size; /* 0: none */
};

enum { most_directives = 192, array_sizes = 12, largest_array = 177147 };

/* Appends the group's directives to `all`, which holds `count`; returns the new count. A loop has
 * `iterations` iterations for each of `threads` threads. */
int add_scheduling(struct directive* all, int count, int iterations, int threads);
int add_arrays(struct directive* all, int count);

void reference_loop(void);
void reference_array(void);
void reference_columns(void);

#endif
