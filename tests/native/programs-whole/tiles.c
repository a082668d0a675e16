/* Two sequences compared by tiles (Smith, Waterman): each thread has a band of columns and waits for its left neighbour
   by a plain flag, row of tiles by row of tiles, in four ways: it yields, sleeps by either call, or turns. Integers,
   against one serial table. */
#define _DEFAULT_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { rows = 600, columns = 640, tile_rows = 40, width = columns + 1, threads_at_most = 256 };
enum { match = 3, mismatch = -2, gap = -1 };
enum pause { yields, sleeps_microseconds, sleeps_nanoseconds, turns, ways_to_pause };

static char left_sequence[rows], upper_sequence[columns];
static int *table, *serial_table;
static volatile int* rows_done; /* by thread */
static int best_of[threads_at_most];

static int larger(int a, int b) {
  return a > b ? a : b;
}

static void make_sequences(void) {
  unsigned state = 4;
  for (int i = 0; i < rows + columns; ++i) {
    state = state * 1664525u + 1013904223u;
    const char base = "ACGT"[state >> 30];
    if (i < rows) {
      left_sequence[i] = base;
    } else {
      upper_sequence[i - rows] = base;
    }
  }
}

/* Returns the best score of the tile, or `best` if that is better. */
static int fill_tile(int* scores, int first_row, int end_row, int first_column, int end_column, int best) {
  for (int i = first_row; i < end_row; ++i) {
    for (int j = first_column; j < end_column; ++j) {
      const int pair = left_sequence[i] == upper_sequence[j] ? match : mismatch;
      const int in_gap = larger(scores[i * width + j + 1], scores[(i + 1) * width + j]) + gap;
      const int score = larger(larger(0, scores[i * width + j] + pair), in_gap);
      scores[(i + 1) * width + j + 1] = score;
      best = larger(best, score);
    }
  }
  return best;
}

static void wait_for_rows(volatile const int* done, int wanted, enum pause how) {
  const struct timespec nap = {0, 1000};
  while (*done < wanted) {
    if (how == yields) sched_yield();
    if (how == sleeps_microseconds) usleep(10);
    if (how == sleeps_nanoseconds) nanosleep(&nap, NULL);
  }
  /* What it hands over is read behind it. */
  __asm__ volatile("" ::: "memory");
}

static void fill_bands(enum pause how) {
#pragma omp parallel
  {
    const int team = omp_get_num_threads(), me = omp_get_thread_num();
    const int first = columns * me / team, end = columns * (me + 1) / team;
    int best = 0;
    for (int row = 0; row < rows; row += tile_rows) {
      if (me > 0) wait_for_rows(&rows_done[me - 1], row + tile_rows, how);
      best = fill_tile(table, row, row + tile_rows, first, end, best);
      __asm__ volatile("" ::: "memory");
      rows_done[me] = row + tile_rows;
    }
    best_of[me] = best;
  }
}

int main(void) {
  const size_t bytes = (size_t)(rows + 1) * width * sizeof *table;
  table = malloc(bytes);
  serial_table = calloc(1, bytes);
  rows_done = calloc(threads_at_most, sizeof *rows_done);
  if (table == NULL || serial_table == NULL || rows_done == NULL) return 2;
  make_sequences();
  const int expected = fill_tile(serial_table, 0, rows, 0, columns, 0);
  int wrong = 0;
  for (int how = 0; how < ways_to_pause; ++how) {
    memset(table, 0, bytes);
    memset(best_of, 0, sizeof best_of);
    for (int i = 0; i < threads_at_most; ++i) rows_done[i] = 0;
    fill_bands((enum pause)how);
    int best = 0;
    for (int i = 0; i < threads_at_most; ++i) best = larger(best, best_of[i]);
    if (best == expected && memcmp(table, serial_table, bytes) == 0) continue;
    ++wrong;
    printf("WRONG: way to pause %d gives %d for %d\n", how, best, expected);
  }
  if (wrong == 0) printf("verified: best score %d\n", expected);
  return wrong != 0;
}
