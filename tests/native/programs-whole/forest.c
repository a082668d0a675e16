/* Graphs without locks: connected components by union-find with compare and exchange, Boruvka's spanning forest by the
   least edge of each tree (a 64-bit minimum by compare and exchange), k-cores by a worklist whose ends are
   fetch-and-add, PageRank by atomic updates; each against a serial algorithm. */
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int vertices, edges, wrong;
static int *from, *to, *weight; /* of an edge */
static int *first, *neighbour;  /* of a vertex, sorted, both directions */
static uint64_t state = 88172645463325252u;

static unsigned random_number(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 20);
}

static void* array(int count, size_t bytes) {
  void* memory = calloc((size_t)(count > 0 ? count : 1), bytes);
  if (memory == NULL) exit(3);
  return memory;
}

static void expect(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  printf("WRONG: %s\n", what);
}

static int ascending(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

/* Several clouds of vertices, denser inside, so that there are many components. */
static void make_graph(void) {
  edges = vertices * 3 / 2;
  from = array(edges, sizeof *from);
  to = array(edges, sizeof *to);
  weight = array(edges, sizeof *weight);
  first = array(vertices + 2, sizeof *first);
  neighbour = array(2 * edges, sizeof *neighbour);
  const int cloud = 40;
  for (int e = 0; e < edges; ++e) {
    from[e] = (int)(random_number() % (unsigned)vertices);
    const int base = from[e] / cloud * cloud;
    to[e] = e % 50 == 0 ? (int)(random_number() % (unsigned)vertices) : base + (int)(random_number() % (unsigned)cloud);
    if (to[e] >= vertices) to[e] = vertices - 1;
    weight[e] = (int)(random_number() % 1000);
    ++first[from[e] + 2];
    ++first[to[e] + 2];
  }
  for (int v = 2; v < vertices + 2; ++v) first[v] += first[v - 1];
  for (int e = 0; e < edges; ++e) {
    neighbour[first[from[e] + 1]++] = to[e];
    neighbour[first[to[e] + 1]++] = from[e];
  }
#pragma omp parallel for schedule(dynamic, 64)
  for (int v = 0; v < vertices; ++v)
    qsort(neighbour + first[v], (size_t)(first[v + 1] - first[v]), sizeof *neighbour, ascending);
}

/* Union-find: a root's parent is itself, and parents have smaller numbers. */
static int find(_Atomic int* parent, int v) {
  for (;;) {
    int up = atomic_load_explicit(&parent[v], memory_order_relaxed);
    if (up == v) return v;
    const int above = atomic_load_explicit(&parent[up], memory_order_relaxed);
    if (above != up) atomic_compare_exchange_weak(&parent[v], &up, above);
    v = above;
  }
}

static int unite(_Atomic int* parent, int a, int b) {
  for (;;) {
    a = find(parent, a);
    b = find(parent, b);
    if (a == b) return 0;
    const int low = a < b ? a : b;
    int high = a < b ? b : a;
    const int root = high;
    if (atomic_compare_exchange_strong(&parent[root], &high, low)) return 1;
  }
}

static int serial_find(const int* parent, int v) {
  while (parent[v] != v) v = parent[v];
  return v;
}

static void components(void) {
  _Atomic int* parent = array(vertices, sizeof *parent);
  int* reference = array(vertices, sizeof *reference);
  int joined = 0, serial_joined = 0, different = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int v = 0; v < vertices; ++v) atomic_init(&parent[v], v);
#pragma omp for schedule(nonmonotonic : dynamic, 100) reduction(+ : joined)
    for (int e = 0; e < edges; ++e) joined += unite(parent, from[e], to[e]);
  }
  for (int v = 0; v < vertices; ++v) reference[v] = v;
  for (int e = 0; e < edges; ++e) {
    const int a = serial_find(reference, from[e]), b = serial_find(reference, to[e]);
    serial_joined += a != b;
    reference[a > b ? a : b] = a < b ? a : b;
  }
#pragma omp parallel for reduction(+ : different)
  for (int v = 0; v < vertices; ++v) different += find(parent, v) != serial_find(reference, v);
  expect(joined == serial_joined, "edges that join components");
  expect(different == 0, "components");
  free(reference);
  free(parent);
}

static int by_weight(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return weight[x] != weight[y] ? (weight[x] > weight[y]) - (weight[x] < weight[y]) : (x > y) - (x < y);
}

/* Each round every tree chooses its least edge; equal weights are told apart by the edges' numbers. */
static void spanning_forest(void) {
  _Atomic int* parent = array(vertices, sizeof *parent);
  _Atomic uint64_t* least = array(vertices, sizeof *least);
  int* tree = array(vertices, sizeof *tree);
  long total = 0;
  int count = 0, grown = 1;
  for (int v = 0; v < vertices; ++v) atomic_init(&parent[v], v);
#pragma omp parallel
  while (grown > 0) {
#pragma omp for
    for (int v = 0; v < vertices; ++v) {
      tree[v] = find(parent, v);
      atomic_store_explicit(&least[v], UINT64_MAX, memory_order_relaxed);
    }
#pragma omp single
    grown = 0;
#pragma omp for schedule(static, 50)
    for (int e = 0; e < edges; ++e) {
      const int ends[2] = {tree[from[e]], tree[to[e]]};
      if (ends[0] == ends[1]) continue;
      const uint64_t mine = (uint64_t)weight[e] << 32 | (uint32_t)e;
      for (int k = 0; k < 2; ++k) {
        uint64_t seen = atomic_load(&least[ends[k]]);
        while (mine < seen && !atomic_compare_exchange_weak(&least[ends[k]], &seen, mine)) {
        }
      }
    }
#pragma omp for reduction(+ : total, count, grown)
    for (int v = 0; v < vertices; ++v) {
      const uint64_t chosen = atomic_load(&least[v]);
      if (chosen == UINT64_MAX) continue;
      const int e = (int)(uint32_t)chosen;
      if (unite(parent, from[e], to[e])) {
        total += weight[e];
        ++count;
        ++grown;
      }
    }
  }
  int* order = array(edges, sizeof *order);
  int* reference = array(vertices, sizeof *reference);
  long kruskal = 0;
  int kruskal_count = 0;
  for (int e = 0; e < edges; ++e) order[e] = e;
  for (int v = 0; v < vertices; ++v) reference[v] = v;
  qsort(order, (size_t)edges, sizeof *order, by_weight);
  for (int k = 0; k < edges; ++k) {
    const int a = serial_find(reference, from[order[k]]), b = serial_find(reference, to[order[k]]);
    if (a == b) continue;
    reference[a > b ? a : b] = a < b ? a : b;
    kruskal += weight[order[k]];
    ++kruskal_count;
  }
  expect(total == kruskal && count == kruskal_count, "spanning forest");
  free(reference);
  free(order);
  free(tree);
  free(least);
  free(parent);
}

/* Vertices that fall below k neighbours go; the worklist holds each once, as only the one that makes it k - 1 adds it.
 */
static void cores(int k) {
  int* degree = array(vertices, sizeof *degree);
  int* list = array(vertices, sizeof *list);
  int end = 0, begin = 0;
#pragma omp parallel
  {
#pragma omp for
    for (int v = 0; v < vertices; ++v) {
      degree[v] = first[v + 1] - first[v];
      if (degree[v] < k) {
        int place = 0;
#pragma omp atomic capture
        place = end++;
        list[place] = v;
      }
    }
    for (;;) {
      const int now = begin, until = end;
#pragma omp barrier
      if (now == until) break;
#pragma omp for schedule(dynamic, 8)
      for (int i = now; i < until; ++i) {
        for (int n = first[list[i]]; n < first[list[i] + 1]; ++n) {
          int left = 0, place = 0;
#pragma omp atomic capture
          left = --degree[neighbour[n]];
          if (left != k - 1) continue;
#pragma omp atomic capture
          place = end++;
          list[place] = neighbour[n];
        }
      }
#pragma omp single
      begin = until;
    }
  }
  char* gone = array(vertices, 1);
  int count = 0;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int v = 0; v < vertices; ++v) {
      int left = 0;
      for (int n = first[v]; n < first[v + 1]; ++n) left += !gone[neighbour[n]];
      if (gone[v] || left >= k) continue;
      gone[v] = changed = 1;
      ++count;
    }
  }
  int bad = count != end;
  for (int i = 0; i < end; ++i) bad |= gone[list[i]] != 1;
  expect(!bad, "cores");
  free(gone);
  free(list);
  free(degree);
}

static void page_rank(int rounds) {
  double* rank = array(vertices, sizeof *rank);
  double* next = array(vertices, sizeof *next);
  double* reference = array(vertices, sizeof *reference);
  for (int v = 0; v < vertices; ++v) rank[v] = reference[v] = 1.0 / vertices;
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
#pragma omp for
    for (int v = 0; v < vertices; ++v) next[v] = 0.15 / vertices;
#pragma omp for schedule(guided)
    for (int v = 0; v < vertices; v += 5) {
      for (int n = first[v]; n < first[v + 1]; ++n) {
#pragma omp atomic
        next[neighbour[n]] += 0.85 * rank[v] / (first[v + 1] - first[v]);
      }
    }
#pragma omp for
    for (int v = 0; v < vertices; ++v) rank[v] = next[v];
  }
  for (int round = 0; round < rounds; ++round) {
    for (int v = 0; v < vertices; ++v) next[v] = 0.15 / vertices;
    for (int v = 0; v < vertices; v += 5)
      for (int n = first[v]; n < first[v + 1]; ++n)
        next[neighbour[n]] += 0.85 * reference[v] / (first[v + 1] - first[v]);
    memcpy(reference, next, (size_t)vertices * sizeof *next);
  }
  double worst = 0;
#pragma omp parallel for reduction(max : worst)
  for (int v = 0; v < vertices; ++v) worst = fmax(worst, fabs(rank[v] - reference[v]) / reference[v]);
  expect(worst < 1e-12, "ranks");
  free(reference);
  free(next);
  free(rank);
}

int main(int argc, char** argv) {
  vertices = argc > 1 ? atoi(argv[1]) : 320;
  make_graph();
  components();
  spanning_forest();
  cores(3);
  page_rank(2);
  if (wrong == 0) printf("%d vertices, %d edges: verified\n", vertices, edges);
  return wrong != 0;
}
