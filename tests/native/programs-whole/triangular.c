/* Usage: triangular.c [counted]. A sparse lower triangular system solved in four ways: level by level, by a doacross
   loop, and row by row with a flag for each row, which is an atomic variable with release and acquire, or a plain
   volatile byte. All do the same operations in the same order for a row, so results are equal to the last bit.
   `counted`: only in the two ways in which no timing decides. */
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { size = 1500, most_in_row = 6, band = 200 };

/* Compressed rows without the diagonal. */
static int row_begin[size + 1], column_of[size * most_in_row];
static double value_of[size * most_in_row], diagonal[size], right_side[size];
static double serial[size], by_level[size], by_loop[size], by_atomic[size], by_byte[size];
static atomic_int is_ready[size];
static volatile char is_stored[size];

static unsigned next_random(void) {
  static unsigned state = 9;
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static int has_column(int begin, int end, int column) {
  for (int k = begin; k < end; ++k)
    if (column_of[k] == column) return 1;
  return 0;
}

static void make_system(void) {
  int count = 0;
  for (int i = 0; i < size; ++i) {
    row_begin[i] = count;
    const int first = i > band ? i - band : 0;
    for (int tries = i < most_in_row ? i : most_in_row - 1; tries > 0; --tries) {
      const int column = first + (int)(next_random() % (unsigned)(i - first));
      if (has_column(row_begin[i], count, column)) continue;
      column_of[count] = column;
      value_of[count++] = (next_random() % 100) / 500.0;
    }
    diagonal[i] = 1 + (next_random() % 10) / 10.0;
    right_side[i] = next_random() % 50;
  }
  row_begin[size] = count;
}

static double solve_row(const double* solution, int row) {
  double rest = right_side[row];
  for (int k = row_begin[row]; k < row_begin[row + 1]; ++k) rest -= value_of[k] * solution[column_of[k]];
  return rest / diagonal[row];
}

/* Returns how many levels there are: a row is one behind the last of those that it needs. */
static int sort_by_level(int* order, int* level_begin) {
  static int level[size];
  int levels = 0;
  memset(level_begin, 0, (size + 1) * sizeof *level_begin);
  for (int i = 0; i < size; ++i) {
    for (int k = row_begin[i]; k < row_begin[i + 1]; ++k)
      if (level[i] <= level[column_of[k]]) level[i] = level[column_of[k]] + 1;
    if (levels <= level[i]) levels = level[i] + 1;
    ++level_begin[level[i] + 1];
  }
  for (int l = 0; l < levels; ++l) level_begin[l + 1] += level_begin[l];
  int place[size];
  memcpy(place, level_begin, sizeof place);
  for (int i = 0; i < size; ++i) order[place[level[i]]++] = i;
  return levels;
}

static int solve_by_levels(void) {
  static int order[size], level_begin[size + 1];
  const int levels = sort_by_level(order, level_begin);
#pragma omp parallel
  for (int l = 0; l < levels; ++l) {
#pragma omp for schedule(static, 3)
    for (int k = level_begin[l]; k < level_begin[l + 1]; ++k) by_level[order[k]] = solve_row(by_level, order[k]);
  }
  return levels;
}

static void solve_by_doacross(void) {
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 0; i < size; ++i) {
#pragma omp ordered depend(sink : i - 1)
    by_loop[i] = solve_row(by_loop, i);
#pragma omp ordered depend(source)
  }
}

static void solve_by_atomic_flags(void) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < size; ++i) {
    for (int k = row_begin[i]; k < row_begin[i + 1]; ++k)
      while (!atomic_load_explicit(&is_ready[column_of[k]], memory_order_acquire)) sched_yield();
    by_atomic[i] = solve_row(by_atomic, i);
    atomic_store_explicit(&is_ready[i], 1, memory_order_release);
  }
}

static void solve_by_plain_flags(void) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < size; ++i) {
    for (int k = row_begin[i]; k < row_begin[i + 1]; ++k)
      while (!is_stored[column_of[k]]) sched_yield();
    __asm__ volatile("" ::: "memory");
    by_byte[i] = solve_row(by_byte, i);
    __asm__ volatile("" ::: "memory");
    is_stored[i] = 1;
  }
}

static int count_wrong(const char* way, const double* solution) {
  int wrong = 0;
  for (int i = 0; i < size; ++i) wrong += solution[i] != serial[i];
  if (wrong > 0) printf("WRONG: %d rows %s\n", wrong, way);
  return wrong;
}

int main(int argc, char** argv) {
  const int is_counted = argc == 2 && strcmp(argv[1], "counted") == 0;
  make_system();
  for (int i = 0; i < size; ++i) serial[i] = solve_row(serial, i);
  const int levels = solve_by_levels();
  solve_by_doacross();
  int wrong = count_wrong("by levels", by_level) + count_wrong("in a doacross loop", by_loop);
  if (!is_counted) {
    solve_by_atomic_flags();
    solve_by_plain_flags();
    wrong += count_wrong("by atomic flags", by_atomic) + count_wrong("by plain flags", by_byte);
  }
  if (wrong == 0) printf("verified: %d levels, last %.12g\n", levels, serial[size - 1]);
  return wrong != 0;
}
