/* Task programs in the style of BOTS, one after another: queens with arrays on the stack handed to tasks, Fibonacci
   with a cut-off by final, an unbalanced tree counted by taskgroup reductions, Strassen's product with depend, knapsack
   with a bound by compare-and-swap, floor plan search under a critical bound, health (villages with lists, locks and
   patients that move up), n-body forces by taskloop, a search that cancels its taskgroup, and priorities with an order
   by depend. Each is held against a serial version of itself. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(const char* what, long is, long should) {
  if (is == should) return;
  printf("WRONG: %s: %ld instead of %ld\n", what, is, should);
  ++failures;
}

/* ---- queens: each task copies the board of its parent, which lies on the parent's stack */

static int safe(int n, const char* board) {
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      if (board[i] == board[j] || board[i] - board[j] == i - j || board[i] - board[j] == j - i) return 0;
  return 1;
}

static void queens(int n, int row, const char* board, int* solutions, int depth) {
  if (row == n) {
    *solutions = 1;
    return;
  }
  int counts[n];
  memset(counts, 0, sizeof counts);
  for (int column = 0; column < n; ++column) {
#pragma omp task untied if (depth < 3) shared(counts) firstprivate(column)
    {
      char own[n];
      memcpy(own, board, row);
      own[row] = (char)column;
      if (safe(row + 1, own)) queens(n, row + 1, own, &counts[column], depth + 1);
    }
  }
#pragma omp taskwait
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += counts[i];
  *solutions = sum;
}

static long fibonacci(int n, int depth) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a) final(depth > 4) mergeable
  a = fibonacci(n - 1, depth + 1 + omp_in_final());
#pragma omp task shared(b) final(depth > 4) mergeable
  b = fibonacci(n - 2, depth + 1 + omp_in_final());
#pragma omp taskwait
  return a + b;
}

/* ---- an unbalanced tree by hashes, as UTS */

static uint32_t hash(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ x >> 16;
}

static int children(uint32_t node, int depth) {
  return depth > 12 ? 0 : depth < 2 ? 5 : (hash(node) % 100 < 46) * 2;
}

static long tree_serial(uint32_t node, int depth) {
  long sum = 1;
  for (int c = 0; c < children(node, depth); ++c) sum += tree_serial(hash(node * 8 + c + 1), depth + 1);
  return sum;
}

static long tree_count;
#pragma omp threadprivate(tree_count)

static void tree_tasks(uint32_t node, int depth) {
  for (int c = 0; c < children(node, depth); ++c) {
#pragma omp task firstprivate(c)
    tree_tasks(hash(node * 8 + c + 1), depth + 1);
  }
  ++tree_count; /* of the thread that runs the task */
}

static long tree_reduced(uint32_t root) {
  long leaves = 0;
#pragma omp taskgroup task_reduction(+ : leaves)
  {
    for (int c = 0; c < 5; ++c) {
#pragma omp task in_reduction(+ : leaves) firstprivate(c)
      leaves += tree_serial(hash(root * 8 + c + 1), 1);
    }
  }
  return leaves + 1;
}

/* ---- Strassen's product; blocks by pointers, order by depend */

static void product(int n, int stride, const double* a, const double* b, double* c) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < n; ++k) s += a[i * stride + k] * b[k * stride + j];
      c[i * stride + j] = s;
    }
}

static double* block(int n, const double* a, const double* b, double sign, int stride) {
  double* r = malloc(sizeof(double) * n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) r[i * n + j] = a[i * stride + j] + (b ? sign * b[i * stride + j] : 0);
  return r;
}

static void strassen(int n, int stride, const double* a, const double* b, double* c, int depth) {
  if (n <= 8 || depth > 2) {
    product(n, stride, a, b, c);
    return;
  }
  const int h = n / 2;
  const double *a11 = a, *a12 = a + h, *a21 = a + h * stride, *a22 = a21 + h;
  const double *b11 = b, *b12 = b + h, *b21 = b + h * stride, *b22 = b21 + h;
  double *left[7], *right[7], *m[7];
  const double* const first[7][2] = {{a11, a22}, {a21, a22}, {a11, NULL}, {a22, NULL},
                                     {a11, a12}, {a21, a11}, {a12, a22}};
  const double sign_first[7] = {1, 1, 0, 0, 1, -1, -1};
  const double* const second[7][2] = {{b11, b22},  {b11, NULL}, {b12, b22}, {b21, b11},
                                      {b22, NULL}, {b11, b12},  {b21, b22}};
  const double sign_second[7] = {1, 0, -1, -1, 0, 1, 1};
  for (int i = 0; i < 7; ++i) {
    m[i] = malloc(sizeof(double) * h * h);
#pragma omp task depend(out : left[i]) shared(left, first, sign_first)
    left[i] = block(h, first[i][0], first[i][1], sign_first[i], stride);
#pragma omp task depend(out : right[i]) shared(right, second, sign_second)
    right[i] = block(h, second[i][0], second[i][1], sign_second[i], stride);
#pragma omp task depend(in : left[i], right[i]) depend(out : m[i]) shared(left, right, m)
    {
      strassen(h, h, left[i], right[i], m[i], depth + 1);
      free(left[i]);
      free(right[i]);
    }
  }
  double *c11 = c, *c12 = c + h, *c21 = c + h * stride, *c22 = c21 + h;
#pragma omp task depend(in : m[0], m[1], m[2], m[3], m[4], m[5], m[6]) shared(m)
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < h; ++j) {
      const int at = i * h + j;
      c11[i * stride + j] = m[0][at] + m[3][at] - m[4][at] + m[6][at];
      c12[i * stride + j] = m[2][at] + m[4][at];
      c21[i * stride + j] = m[1][at] + m[3][at];
      c22[i * stride + j] = m[0][at] - m[1][at] + m[2][at] + m[5][at];
    }
#pragma omp taskwait
  for (int i = 0; i < 7; ++i) free(m[i]);
}

/* ---- knapsack: the best so far is raised by compare and swap */

enum { ITEMS = 16 };
static int weights[ITEMS], values[ITEMS];
static int best_value;

static void knapsack(int item, int room, int value, int left_over) {
  int best;
#pragma omp atomic read
  best = best_value;
  if (value + left_over <= best) return;
  while (value > best &&
         !__atomic_compare_exchange_n(&best_value, &best, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  if (item == ITEMS) return;
  if (weights[item] <= room) {
#pragma omp task if (item < 6)
    knapsack(item + 1, room - weights[item], value + values[item], left_over - values[item]);
  }
#pragma omp task if (item < 6)
  knapsack(item + 1, room, value, left_over - values[item]);
#pragma omp taskwait
}

static int knapsack_serial(int room) {
  int* most = calloc(room + 1, sizeof *most);
  for (int i = 0; i < ITEMS; ++i)
    for (int r = room; r >= weights[i]; --r)
      if (most[r - weights[i]] + values[i] > most[r]) most[r] = most[r - weights[i]] + values[i];
  const int result = most[room];
  free(most);
  return result;
}

/* ---- a floor plan: strips placed in either way, the least area under a critical section */

struct plan {
  int width, height, order[6];
};
static struct plan least_plan;
static const int sides[6][2] = {{3, 5}, {2, 7}, {4, 4}, {6, 1}, {5, 2}, {3, 8}};

static void place(struct plan p, int cell, int depth) {
  if (p.width * p.height >= least_plan.width * least_plan.height) return; /* an older bound only costs time */
  if (cell == 6) {
#pragma omp critical(plan)
    if (p.width * p.height < least_plan.width * least_plan.height) least_plan = p;
    return;
  }
  for (int turned = 0; turned < 4; ++turned) {
#pragma omp task firstprivate(p) if (depth < 2)
    {
      const int w = sides[cell][turned & 1], h = sides[cell][!(turned & 1)];
      if (turned & 2) {
        p.width += w;
        if (h > p.height) p.height = h;
      } else {
        p.height += h;
        if (w > p.width) p.width = w;
      }
      p.order[cell] = turned;
      place(p, cell + 1, depth + 1);
    }
  }
#pragma omp taskwait
}

static int place_serial(int width, int height, int cell) {
  if (cell == 6) return width * height;
  int least = 1 << 30;
  for (int turned = 0; turned < 4; ++turned) {
    const int w = sides[cell][turned & 1], h = sides[cell][!(turned & 1)];
    const int area = turned & 2 ? place_serial(width + w, h > height ? h : height, cell + 1)
                                : place_serial(w > width ? w : width, height + h, cell + 1);
    if (area < least) least = area;
  }
  return least;
}

/* ---- health: patients in lists of a tree of villages; those not treated move to the parent's list under its lock */

struct patient {
  struct patient* next;
  int id, hospitals, steps;
};
struct village {
  struct village *parent, *child[3];
  struct patient *waiting, *healthy;
  omp_lock_t lock;
  uint32_t seed;
  int level;
};

static struct village* build_village(struct village* parent, int level, uint32_t seed, int* id) {
  struct village* v = calloc(1, sizeof *v);
  v->parent = parent;
  v->level = level;
  v->seed = seed;
  omp_init_lock(&v->lock);
  for (int i = 0; i < 5; ++i) {
    struct patient* p = calloc(1, sizeof *p);
    p->id = (*id)++;
    p->next = v->waiting;
    v->waiting = p;
  }
  for (int c = 0; level > 0 && c < 3; ++c) v->child[c] = build_village(v, level - 1, hash(seed + c), id);
  return v;
}

static void simulate(struct village* v, int step) {
  for (int c = 0; c < 3; ++c)
    if (v->child[c]) {
#pragma omp task firstprivate(c)
      simulate(v->child[c], step);
    }
#pragma omp taskwait
  /* By what the patient has, not by the order of the list, which is that of arrival. */
  omp_set_lock(&v->lock);
  struct patient* p = v->waiting;
  v->waiting = NULL;
  omp_unset_lock(&v->lock);
  while (p) {
    struct patient* next = p->next;
    const uint32_t luck = hash(v->seed ^ (uint32_t)(p->id * 977 + step)) % 10;
    struct village* to = luck > 6 && v->parent ? v->parent : v;
    struct patient** list = luck < 4 || (luck > 6 && !v->parent) ? &v->healthy : &to->waiting;
    ++p->steps;
    p->hospitals += to != v;
    omp_set_lock(&to->lock);
    p->next = *list;
    *list = p;
    omp_unset_lock(&to->lock);
    p = next;
  }
}

static long sum_village(struct village* v) {
  long sum = 0;
  struct patient* lists[2] = {v->waiting, v->healthy};
  for (int l = 0; l < 2; ++l)
    for (struct patient* p = lists[l]; p;) {
      struct patient* next = p->next;
      sum += (p->id + 1) * (3L * p->steps + 5L * p->hospitals + 7L * l + v->level);
      free(p);
      p = next;
    }
  for (int c = 0; c < 3; ++c)
    if (v->child[c]) sum += sum_village(v->child[c]);
  omp_destroy_lock(&v->lock);
  free(v);
  return sum;
}

static long health(int threads) {
  int id = 0;
  struct village* top = build_village(NULL, 3, 7, &id);
#pragma omp parallel num_threads(threads)
  for (int step = 0; step < 4; ++step) {
#pragma omp single
    simulate(top, step);
  }
  return sum_village(top);
}

/* ---- a search that ends when one task has found it (cancellation may be off: then all run) */

static int search(const int* list, int n, int what) {
  int found = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
    for (int from = 0; from < n; from += 64) {
#pragma omp task firstprivate(from) shared(found)
      {
        for (int i = from; i < from + 64 && i < n; ++i)
          if (list[i] == what) {
#pragma omp atomic write
            found = i;
#pragma omp cancel taskgroup
          }
#pragma omp cancellation point taskgroup
      }
    }
  }
  return found;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 6;
  int solutions = 0;
#pragma omp parallel
#pragma omp single nowait
  queens(n, 0, NULL, &solutions, 0);
  static const int known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352};
  expect("queens", solutions, known[n]);

  long fib = 0;
#pragma omp parallel
#pragma omp master
  fib = fibonacci(13, 0);
  expect("fibonacci", fib, 233);

  long nodes = 0;
#pragma omp parallel reduction(+ : nodes)
  {
    tree_count = 0;
#pragma omp barrier
#pragma omp single
    tree_tasks(19, 0);
    nodes += tree_count;
  }
  expect("tree", nodes, tree_serial(19, 0));
#pragma omp parallel
#pragma omp single
  nodes = tree_reduced(19);
  expect("reduced tree", nodes, tree_serial(19, 0));

  enum { edge = 32 };
  double *a = malloc(sizeof(double) * edge * edge), *b = malloc(sizeof(double) * edge * edge);
  double *c = malloc(sizeof(double) * edge * edge), *d = malloc(sizeof(double) * edge * edge);
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(7) collapse(2)
    for (int i = 0; i < edge; ++i)
      for (int j = 0; j < edge; ++j) {
        a[i * edge + j] = (i * 3 + j) % 7 - 3;
        b[i * edge + j] = (i + j * 5) % 9 - 4;
      }
    strassen(edge, edge, a, b, c, 0);
  }
  product(edge, edge, a, b, d);
  expect("Strassen", memcmp(c, d, sizeof(double) * edge * edge) == 0, 1); /* small integers: exact */
  free(a), free(b), free(c), free(d);

  int total = 0;
  for (int i = 0; i < ITEMS; ++i) {
    weights[i] = 3 + (int)(hash(i) % 17);
    values[i] = weights[i] + (int)(hash(i + 100) % 9);
    total += values[i];
  }
#pragma omp parallel
#pragma omp single
  knapsack(0, 60, 0, total);
  expect("knapsack", best_value, knapsack_serial(60));

  least_plan = (struct plan){100, 100, {0}};
#pragma omp parallel
#pragma omp masked
  place((struct plan){0, 0, {0}}, 0, 0);
  expect("floor plan", least_plan.width * least_plan.height, place_serial(0, 0, 0));

  expect("health", health(omp_get_max_threads()), health(1));

  int list[1000];
  for (int i = 0; i < 1000; ++i) list[i] = i * 7 % 1009;
  expect("search", search(list, 1000, list[777]), 777);
  expect("search for nothing", search(list, 1000, -5), -1);

  long sum = 0;
  int order[8] = {0}, turn = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop num_tasks(10) reduction(+ : sum)
    for (int i = 0; i < 500; ++i) sum += i * (long)list[i];
    for (int i = 0; i < 8; ++i) {
#pragma omp task depend(inout : turn) priority(i) shared(order, turn)
      order[turn++] = i;
    }
  }
  long should = 0;
  for (int i = 0; i < 500; ++i) should += i * (long)list[i];
  expect("taskloop", sum, should);
  for (int i = 0; i < 8; ++i) expect("order by depend", order[i], i);
  if (!failures) puts("verified");
  return failures != 0;
}
