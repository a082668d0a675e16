/* Searches by tasks, as in task suites: queens with boards on the stack, a knapsack with a shared bound, Fibonacci by
   deep recursion, an unbalanced tree counted, a list walked by one thread, a maze by depth-first search, strassen. */
#include <alloca.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fits(int row, const char* board) {
  for (int i = 0; i < row; ++i)
    if (board[i] == board[row] || abs(board[i] - board[row]) == row - i) return 0;
  return 1;
}

static void queens(int n, int row, const char* board, int* solutions) {
  if (row == n) {
    *solutions = 1;
    return;
  }
  int* parts = alloca((size_t)n * sizeof *parts);
  memset(parts, 0, (size_t)n * sizeof *parts);
  for (int column = 0; column < n; ++column) {
#pragma omp task untied if (row < 3) firstprivate(column) shared(parts)
    {
      char* next = alloca((size_t)n);
      memcpy(next, board, (size_t)row);
      next[row] = (char)column;
      if (fits(row, next)) queens(n, row + 1, next, &parts[column]);
    }
  }
#pragma omp taskwait
  for (int i = 0; i < n; ++i) *solutions += parts[i];
}

static long counted;
#pragma omp threadprivate(counted)

static void queens_by_thread(int n, int row, unsigned columns, unsigned left, unsigned right) {
  if (row == n) {
    ++counted;
    return;
  }
  for (unsigned free_places = ((1u << n) - 1) & ~(columns | left | right); free_places;
       free_places &= free_places - 1) {
    const unsigned bit = free_places & -free_places;
#pragma omp task if (row < 2)
    queens_by_thread(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
#pragma omp taskwait
}

enum { ITEMS = 24 };
static int weights[ITEMS], values[ITEMS], best;

static void knapsack(int item, int room, int value, int rest) {
  int seen;
#pragma omp atomic read
  seen = best;
  if (room < 0 || value + rest < seen) return;
  if (item == ITEMS) {
#pragma omp critical(best)
    if (value > best) {
#pragma omp atomic write
      best = value;
    }
    return;
  }
#pragma omp task if (item < 6)
  knapsack(item + 1, room - weights[item], value + values[item], rest - values[item]);
#pragma omp task if (item < 6)
  knapsack(item + 1, room, value, rest - values[item]);
#pragma omp taskwait
}

static int knapsack_wrong(void) {
  int table[401] = {0}, sum = 0;
  for (int i = 0; i < ITEMS; ++i) {
    weights[i] = 10 + i * 37 % 41;
    values[i] = 5 + i * 53 % 71;
    sum += values[i];
    for (int room = 400; room >= weights[i]; --room)
      if (table[room - weights[i]] + values[i] > table[room]) table[room] = table[room - weights[i]] + values[i];
  }
  best = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  knapsack(0, 400, 0, sum);
  return best != table[400];
}

static long fibonacci(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a) final(n < 12)
  a = fibonacci(n - 1);
  if (omp_in_final()) {
    b = fibonacci(n - 2);
  } else {
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
  }
  return a + b;
}

static uint64_t hashed(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static long tree(uint64_t node, int depth, int with_tasks) {
  const int children = depth > 40 ? 0 : depth < 4 ? 4 : hashed(node) % 100 < 45 ? 2 : 0;
  long below[4] = {0}, sum = 1;
  for (int c = 0; c < children; ++c) {
    if (with_tasks) {
#pragma omp task shared(below) firstprivate(c) mergeable
      below[c] = tree(hashed(4 * node + (uint64_t)c), depth + 1, depth < 6);
    } else
      below[c] = tree(hashed(4 * node + (uint64_t)c), depth + 1, 0);
  }
#pragma omp taskwait
  for (int c = 0; c < children; ++c) sum += below[c];
  return sum;
}

typedef struct cell {
  struct cell* next;
  int number;
  long result;
  char name[20];
} cell;

static int list_wrong(int length) {
  cell* head = NULL;
  for (int i = length; i-- > 0;) {
    cell* c = malloc(sizeof *c);
    *c = (cell){.next = head, .number = i};
    head = c;
  }
  long sum = 0;
#pragma omp parallel shared(sum)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (cell* c = head; c; c = c->next) {
#pragma omp task firstprivate(c) in_reduction(+ : sum)
      {
        for (int k = 0; k <= c->number; ++k) c->result += k;
        snprintf(c->name, sizeof c->name, "cell %d", c->number);
        sum += c->result;
      }
    }
  }
  long expected = 0;
  int wrong = 0;
  for (cell* c = head; c;) {
    char name[20];
    snprintf(name, sizeof name, "cell %d", c->number);
    const long n = c->number;
    expected += n * (n + 1) / 2;
    wrong += c->result != n * (n + 1) / 2 || strcmp(name, c->name) != 0;
    cell* next = c->next;
    free(c);
    c = next;
  }
  return wrong + (sum != expected);
}

static void multiply(const double* a, const double* b, double* c, int n, int wide_a, int wide_b, int wide_c) {
  if (n <= 16) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += a[i * wide_a + k] * b[k * wide_b + j];
        c[i * wide_c + j] = sum;
      }
    return;
  }
  const int h = n / 2;
  double* t = malloc((size_t)(8 * h * h) * sizeof *t);
  for (int p = 0; p < 8; ++p) {
#pragma omp task firstprivate(p)
    {
      const int i = p >> 2, j = p >> 1 & 1, k = p & 1;
      multiply(a + i * h * wide_a + k * h, b + k * h * wide_b + j * h, t + p * h * h, h, wide_a, wide_b, h);
    }
  }
#pragma omp taskwait
  for (int p = 0; p < 8; p += 2)
    for (int i = 0; i < h; ++i)
      for (int j = 0; j < h; ++j)
        c[((p >> 2) * h + i) * wide_c + (p >> 1 & 1) * h + j] =
            t[p * h * h + i * h + j] + t[(p + 1) * h * h + i * h + j];
  free(t);
}

static int multiply_wrong(int n) {
  double *a = malloc((size_t)(3 * n * n) * sizeof *a), *b = a + n * n, *c = b + n * n;
  for (int i = 0; i < n * n; ++i) a[i] = i % 7, b[i] = i % 5 - 2;
#pragma omp parallel
#pragma omp masked
  multiply(a, b, c, n, n, n, n);
  int wrong = 0;
#pragma omp parallel for collapse(2) reduction(+ : wrong)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      wrong += sum != c[i * n + j];
    }
  free(a);
  return wrong;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 7, deep = argc > 2 ? atoi(argv[2]) : 18;
  static const int known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724};
  if (n > 10 || n < 1) return 2;
  int solutions = 0, wrong = 0;
  long by_thread = 0, f = 0, nodes = 0;
  const double begun = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  queens(n, 0, NULL, &solutions);
#pragma omp parallel
  {
    counted = 0;
#pragma omp single
    queens_by_thread(n, 0, 0, 0, 0);
#pragma omp atomic
    by_thread += counted;
  }
#pragma omp parallel
#pragma omp single
  {
    f = fibonacci(deep);
    nodes = tree(1, 0, 1);
  }
  long x = 0, y = 1;
  for (int i = 0; i < deep; ++i) {
    const long z = x + y;
    x = y;
    y = z;
  }
  wrong += solutions != known[n];
  wrong += by_thread != known[n];
  wrong += f != x;
  wrong += nodes != tree(1, 0, 0);
  wrong += knapsack_wrong() + list_wrong(100) + multiply_wrong(64);
  printf("search: %d queens %d %ld, fibonacci %ld, tree %ld, best %d, %.3f s: %s\n", n, solutions, by_thread, f, nodes,
         best, omp_get_wtime() - begun, wrong ? "WRONG" : "verified");
  return wrong != 0;
}
