/* Sequences: the best local alignment with affine gaps (Smith, Waterman, Gotoh) by anti-diagonals, by blocks in a
   doacross loop and by tasks that depend on blocks; the edit distance in two rows with a taskloop over many pairs; the
   optimal order of matrix products by non-rectangular loops. Integers throughout, against one serial table. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { block = 16, match = 3, mismatch = -2, open_gap = -4, extend_gap = -1 };

typedef struct {
  int best, in_row, in_column; /* ends in a pair, in a gap of either sequence */
} cell;

static int length, wrong;
static char *left_sequence, *upper_sequence;

static void expect(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  printf("WRONG: %s\n", what);
}

static int larger(int a, int b) {
  return a > b ? a : b;
}

/* A table has a row and a column more than the sequences, all zero. */
static cell* make_table(void) {
  cell* table = calloc((size_t)(length + 1) * (size_t)(length + 1), sizeof *table);
  if (table == NULL) exit(3);
  return table;
}

static void step(cell* table, int i, int j) {
  const int width = length + 1;
  const cell *above = &table[(i - 1) * width + j], *before = &table[i * width + j - 1];
  const cell* diagonal = &table[(i - 1) * width + j - 1];
  cell here;
  here.in_column = larger(above->best + open_gap, above->in_column + extend_gap);
  here.in_row = larger(before->best + open_gap, before->in_row + extend_gap);
  here.best = diagonal->best + (left_sequence[i - 1] == upper_sequence[j - 1] ? match : mismatch);
  here.best = larger(larger(here.best, 0), larger(here.in_column, here.in_row));
  table[i * width + j] = here;
}

static void do_block(cell* table, int row, int column) {
  for (int i = row * block + 1; i <= (row + 1) * block; ++i)
    for (int j = column * block + 1; j <= (column + 1) * block; ++j) step(table, i, j);
}

static void by_diagonals(cell* table) {
#pragma omp parallel
  for (int sum = 2; sum <= 2 * length; ++sum) {
    const int begin = sum > length ? sum - length : 1, end = sum - 1 < length ? sum - 1 : length;
#pragma omp for schedule(static)
    for (int i = begin; i <= end; ++i) step(table, i, sum - i);
  }
}

static void by_doacross(cell* table) {
  const int blocks = length / block;
#pragma omp parallel for ordered(2) schedule(static, 1)
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      do_block(table, i, j);
#pragma omp ordered depend(source)
    }
  }
}

static void by_tasks(cell* table) {
  const int blocks = length / block, width = blocks + 1;
  char* is_done = calloc((size_t)(width * width), 1);
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    for (int i = 1; i <= blocks; ++i) {
      for (int j = 1; j <= blocks; ++j) {
        char *here = &is_done[i * width + j], *above = here - width, *before = here - 1;
#pragma omp task depend(in : *above, *before) depend(out : *here) priority(blocks - j)
        {
          do_block(table, i - 1, j - 1);
          *here = 1;
        }
      }
    }
  }
  int done = 0;
  for (int k = 0; k < width * width; ++k) done += is_done[k];
  expect(done == blocks * blocks, "tasks");
  free(is_done);
}

/* Back from the best cell to where its alignment began: its score again, from pairs and gaps. */
static int trace_back(const cell* table) {
  const int width = length + 1;
  int i = 0, j = 0, best = 0, score = 0;
  for (int k = 0; k < width * width; ++k)
    if (table[k].best > best) {
      best = table[k].best;
      i = k / width;
      j = k % width;
    }
  while (table[i * width + j].best > 0) {
    const cell* here = &table[i * width + j];
    if (here->best == here->in_column || here->best == here->in_row) {
      const int is_column = here->best == here->in_column;
      int rest = here->best, gap = 0;
      do {
        gap += gap == 0 ? open_gap : extend_gap;
        if (is_column)
          --i;
        else
          --j;
      } while (table[i * width + j].best + gap != rest);
      score += gap;
    } else {
      score += left_sequence[i - 1] == upper_sequence[j - 1] ? match : mismatch;
      --i;
      --j;
    }
  }
  return score == best ? best : -1;
}

static int distance(const char* a, const char* b, int n) {
  int rows[2][n + 1]; /* on the stack of whoever runs the task */
  for (int j = 0; j <= n; ++j) rows[0][j] = j;
  for (int i = 1; i <= n; ++i) {
    const int* last = rows[(i - 1) % 2];
    int* row = rows[i % 2];
    row[0] = i;
    for (int j = 1; j <= n; ++j) {
      const int change = last[j - 1] + (a[i - 1] != b[j - 1]), gap = 1 + (last[j] < row[j - 1] ? last[j] : row[j - 1]);
      row[j] = change < gap ? change : gap;
    }
  }
  return rows[n % 2][n];
}

static void all_distances(int words, int n) {
  int distances[words][words];
  long total = 0;
  memset(distances, -1, sizeof distances);
#pragma omp parallel
#pragma omp single
#pragma omp taskloop collapse(2) grainsize(7) reduction(+ : total)
  for (int a = 0; a < words; ++a) {
    for (int b = 0; b < words; ++b) {
      distances[a][b] = distance(left_sequence + a * n, upper_sequence + b * n, n);
      total += distances[a][b];
    }
  }
  long serial = 0;
  for (int a = 0; a < words; ++a)
    for (int b = 0; b < words; ++b) serial += distance(left_sequence + a * n, upper_sequence + b * n, n);
  long met = 0;
#pragma omp parallel for collapse(2) reduction(+ : met)
  for (int a = 0; a < words; ++a)
    for (int b = 0; b < words; ++b) met += distances[a][b];
  expect(total == serial && met == serial, "edit distances");
}

static void matrix_chain(int count) {
  int sizes[count + 1];
  long(*cost)[count] = calloc((size_t)count, sizeof *cost);
  long(*serial)[count] = calloc((size_t)count, sizeof *serial);
  for (int i = 0; i <= count; ++i) sizes[i] = 5 + left_sequence[i] * 7 % 40;
  long sum = 0, serial_sum = 0;
#pragma omp parallel
  for (int span = 1; span < count; ++span) {
#pragma omp for schedule(monotonic : dynamic, 2)
    for (int i = 0; i < count - span; ++i) {
      long least = -1;
      for (int k = i; k < i + span; ++k) {
        const long price = cost[i][k] + cost[k + 1][i + span] + (long)sizes[i] * sizes[k + 1] * sizes[i + span + 1];
        if (least < 0 || price < least) least = price;
      }
      cost[i][i + span] = least;
    }
  }
  for (int span = 1; span < count; ++span)
    for (int i = 0; i < count - span; ++i)
      for (int k = i; k < i + span; ++k) {
        const long price = serial[i][k] + serial[k + 1][i + span] + (long)sizes[i] * sizes[k + 1] * sizes[i + span + 1];
        if (k == i || price < serial[i][i + span]) serial[i][i + span] = price;
      }
#pragma omp parallel for collapse(2) reduction(+ : sum)
  for (int i = 0; i < count; ++i)
    for (int j = i; j < count; ++j) sum += cost[i][j];
  for (int i = 0; i < count; ++i)
    for (int j = i; j < count; ++j) serial_sum += serial[i][j];
  expect(sum == serial_sum && cost[0][count - 1] == serial[0][count - 1], "products of matrices");
  free(serial);
  free(cost);
}

int main(int argc, char** argv) {
  length = (argc > 1 ? atoi(argv[1]) : 112) / block * block;
  left_sequence = malloc((size_t)length + 1);
  upper_sequence = malloc((size_t)length + 1);
  unsigned state = 2463534242u;
  for (int i = 0; i <= length; ++i) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    left_sequence[i] = "acgt"[state % 4];
    /* The other sequence is the same with an error now and then. */
    upper_sequence[i] = state / 4 % 6 == 0 || i < 3 ? "acgt"[state / 64 % 4] : left_sequence[i - i / 40 % 2];
  }
  cell* serial = make_table();
  for (int i = 1; i <= length; ++i)
    for (int j = 1; j <= length; ++j) step(serial, i, j);
  void (*const ways[])(cell*) = {by_diagonals, by_doacross, by_tasks};
  for (int way = 0; way < 3; ++way) {
    cell* table = make_table();
    ways[way](table);
    expect(memcmp(table, serial, (size_t)(length + 1) * (size_t)(length + 1) * sizeof *table) == 0, "a table");
    expect(trace_back(table) > length / 2, "the way back");
    free(table);
  }
  all_distances(10, length / 12);
  matrix_chain(24);
  free(serial);
  free(upper_sequence);
  free(left_sequence);
  if (wrong == 0) printf("%d letters: verified\n", length);
  return wrong != 0;
}
