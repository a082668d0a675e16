/* Breadth-first search, as in graph suites: levels with one shared flag, with queues of each thread claimed by compare
   and swap, with a bit map, and bottom-up; then connected components and PageRank on the same graph. */
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct graph {
  int nodes;
  long edges;
  long* offsets;
  int* targets;
};

static struct graph random_graph(int nodes, int degree) {
  struct graph g = {.nodes = nodes};
  long* counts = calloc((size_t)nodes + 1, sizeof *counts);
  const long pairs = (long)nodes * degree / 2;
  int* ends = malloc((size_t)(2 * pairs) * sizeof *ends);
  uint64_t state = 88172645463325252u;
  for (long e = 0; e < 2 * pairs; ++e) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    /* Skewed, so that some nodes have many edges; the last tenth have none. */
    const uint64_t range = e % 3 ? (uint64_t)nodes * 9 / 10 : (uint64_t)nodes / 10;
    ends[e] = (int)(state % range);
    ++counts[ends[e]];
  }
  g.offsets = malloc(((size_t)nodes + 1) * sizeof *g.offsets);
  g.offsets[0] = 0;
  for (int v = 0; v < nodes; ++v) g.offsets[v + 1] = g.offsets[v] + counts[v];
  g.edges = g.offsets[nodes];
  g.targets = malloc((size_t)g.edges * sizeof *g.targets);
  memcpy(counts, g.offsets, (size_t)nodes * sizeof *counts);
  for (long e = 0; e < pairs; ++e) {
    g.targets[counts[ends[2 * e]]++] = ends[2 * e + 1];
    g.targets[counts[ends[2 * e + 1]]++] = ends[2 * e];
  }
  free(counts), free(ends);
  return g;
}

static void serial(const struct graph* g, int source, int* depth) {
  int *queue = malloc((size_t)g->nodes * sizeof *queue), head = 0, tail = 0;
  for (int v = 0; v < g->nodes; ++v) depth[v] = -1;
  depth[source] = 0;
  queue[tail++] = source;
  while (head < tail) {
    const int v = queue[head++];
    for (long e = g->offsets[v]; e < g->offsets[v + 1]; ++e)
      if (depth[g->targets[e]] < 0) {
        depth[g->targets[e]] = depth[v] + 1;
        queue[tail++] = g->targets[e];
      }
  }
  free(queue);
}

/* Rodinia's way: a flag that every thread may set, to the same value. */
static void by_flag(const struct graph* g, int source, int* depth) {
  bool *now = calloc((size_t)g->nodes, sizeof *now), *next = calloc((size_t)g->nodes, sizeof *next), more;
  for (int v = 0; v < g->nodes; ++v) depth[v] = -1;
  depth[source] = 0;
  now[source] = true;
  do {
    more = false;
#pragma omp parallel for
    for (int v = 0; v < g->nodes; ++v) {
      if (!now[v]) continue;
      now[v] = false;
      for (long e = g->offsets[v]; e < g->offsets[v + 1]; ++e) {
        int old;
#pragma omp atomic read
        old = depth[g->targets[e]];
        if (old < 0) {
#pragma omp atomic write
          depth[g->targets[e]] = depth[v] + 1;
          next[g->targets[e]] = true;
        }
      }
    }
#pragma omp parallel for
    for (int v = 0; v < g->nodes; ++v)
      if (next[v]) {
        now[v] = true;
        next[v] = false;
        more = true;
      }
  } while (more);
  free(now), free(next);
}

static void by_queues(const struct graph* g, int source, int* depth) {
  int *frontier = malloc((size_t)g->nodes * sizeof *frontier), *next = malloc((size_t)g->nodes * sizeof *next);
  int* parent = malloc((size_t)g->nodes * sizeof *parent);
  int count = 1, found = 0, level = 0;
  for (int v = 0; v < g->nodes; ++v) depth[v] = parent[v] = -1;
  depth[source] = 0;
  parent[source] = source;
  frontier[0] = source;
#pragma omp parallel shared(frontier, next, count, found, level)
  {
    int *own = NULL, room = 0;
    while (count > 0) {
      int filled = 0;
#pragma omp for schedule(dynamic, 32) nowait
      for (int i = 0; i < count; ++i) {
        const int v = frontier[i];
        for (long e = g->offsets[v]; e < g->offsets[v + 1]; ++e) {
          const int w = g->targets[e];
          if (__sync_bool_compare_and_swap(&parent[w], -1, v)) {
            depth[w] = level + 1;
            if (filled == room) own = realloc(own, (size_t)(room = room ? 2 * room : 16) * sizeof *own);
            own[filled++] = w;
          }
        }
      }
      int place;
#pragma omp atomic capture
      {
        place = found;
        found += filled;
      }
      if (filled) memcpy(next + place, own, (size_t)filled * sizeof *own);
#pragma omp barrier
#pragma omp single
      {
        int* swap = frontier;
        frontier = next;
        next = swap;
        count = found;
        found = 0;
        ++level;
      }
    }
    free(own);
  }
  for (int v = 0; v < g->nodes; ++v)
    if (parent[v] >= 0 && v != source && depth[v] != depth[parent[v]] + 1) depth[v] = -7;
  free(frontier), free(next), free(parent);
}

static void by_bits(const struct graph* g, int source, int* depth) {
  const size_t words = ((size_t)g->nodes + 63) / 64;
  uint64_t *seen = calloc(words, sizeof *seen), *now = calloc(words, sizeof *now), *next = calloc(words, sizeof *next);
  for (int v = 0; v < g->nodes; ++v) depth[v] = -1;
  depth[source] = 0;
  seen[source / 64] |= UINT64_C(1) << source % 64;
  now[source / 64] |= UINT64_C(1) << source % 64;
  long added = 1;
  for (int level = 1; added; ++level) {
    added = 0;
#pragma omp parallel for schedule(guided) reduction(+ : added)
    for (int v = 0; v < g->nodes; ++v) {
      if (!(now[v / 64] >> v % 64 & 1)) continue;
      for (long e = g->offsets[v]; e < g->offsets[v + 1]; ++e) {
        const int w = g->targets[e];
        const uint64_t bit = UINT64_C(1) << w % 64;
        if (__atomic_fetch_or(&seen[w / 64], bit, __ATOMIC_RELAXED) & bit) continue;
        __atomic_fetch_or(&next[w / 64], bit, __ATOMIC_RELAXED);
        depth[w] = level;
        ++added;
      }
    }
    uint64_t* swap = now;
    now = next;
    next = swap;
    memset(next, 0, words * sizeof *next);
  }
  free(seen), free(now), free(next);
}

static void bottom_up(const struct graph* g, int source, int* depth) {
  for (int v = 0; v < g->nodes; ++v) depth[v] = v == source ? 0 : -1;
  int added = 1;
  for (int level = 1; added; ++level) {
    added = 0;
#pragma omp parallel for reduction(|| : added)
    for (int v = 0; v < g->nodes; ++v) {
      if (depth[v] >= 0) continue;
      for (long e = g->offsets[v]; e < g->offsets[v + 1]; ++e) {
        if (depth[g->targets[e]] != level - 1) continue;
        depth[v] = level;
        added = 1;
        break;
      }
    }
  }
}

static int components_wrong(const struct graph* g, const int* depth) {
  int *label = malloc((size_t)g->nodes * sizeof *label), changed = 1, wrong = 0;
#pragma omp parallel for
  for (int v = 0; v < g->nodes; ++v) label[v] = v;
  while (changed) {
    changed = 0;
#pragma omp parallel for
    for (int v = 0; v < g->nodes; ++v)
      for (long e = g->offsets[v]; e < g->offsets[v + 1]; ++e) {
        int least = __atomic_load_n(&label[g->targets[e]], __ATOMIC_RELAXED), mine = label[v];
        while (least < mine && !__atomic_compare_exchange_n(&label[v], &mine, least, 0, __ATOMIC_SEQ_CST, 0)) continue;
        if (least < mine) {
#pragma omp atomic write
          changed = 1;
        }
      }
  }
  for (int v = 0; v < g->nodes; ++v) wrong += (depth[v] >= 0) != (label[v] == label[0]);
  free(label);
  return wrong;
}

static int ranks_wrong(const struct graph* g) {
  double *rank = malloc((size_t)g->nodes * sizeof *rank), *next = malloc((size_t)g->nodes * sizeof *next), change = 1;
  int with_edges = 0;
  for (int v = 0; v < g->nodes; ++v) with_edges += g->offsets[v + 1] > g->offsets[v];
#pragma omp parallel for
  for (int v = 0; v < g->nodes; ++v) rank[v] = g->offsets[v + 1] > g->offsets[v] ? 1.0 / with_edges : 0;
  for (int round = 0; round < 5; ++round) {
    change = 0;
#pragma omp parallel for reduction(+ : change) schedule(static, 128)
    for (int v = 0; v < g->nodes; ++v) {
      double sum = 0;
      for (long e = g->offsets[v]; e < g->offsets[v + 1]; ++e) {
        const int w = g->targets[e];
        sum += rank[w] / (double)(g->offsets[w + 1] - g->offsets[w]);
      }
      next[v] = sum;
      change += fabs(sum - rank[v]);
    }
    double* swap = rank;
    rank = next;
    next = swap;
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int v = 0; v < g->nodes; ++v) sum += rank[v];
  free(rank), free(next);
  return fabs(sum - 1) > 1e-9 || change > 1;
}

int main(int argc, char** argv) {
  const int nodes = argc > 1 ? atoi(argv[1]) : 3000, degree = argc > 2 ? atoi(argv[2]) : 6;
  struct graph g = random_graph(nodes, degree);
  int *expected = malloc((size_t)nodes * sizeof *expected), *depth = malloc((size_t)nodes * sizeof *depth), wrong = 0;
  serial(&g, 0, expected);
  static const struct {
    const char* name;
    void (*search)(const struct graph*, int, int*);
  } ways[] = {{"flag", by_flag}, {"queues", by_queues}, {"bits", by_bits}, {"bottom up", bottom_up}};
  for (size_t k = 0; k < sizeof ways / sizeof *ways; ++k) {
    if (argc > 3 && strchr(argv[3], ways[k].name[1]) == NULL) continue;
    const double begun = omp_get_wtime();
    ways[k].search(&g, 0, depth);
    const int bad = memcmp(depth, expected, (size_t)nodes * sizeof *depth) != 0;
    printf("%s: %.3f s%s\n", ways[k].name, omp_get_wtime() - begun, bad ? ", WRONG" : "");
    wrong += bad;
  }
  if (argc <= 3) wrong += components_wrong(&g, expected) + ranks_wrong(&g);
  printf("bfs: %d nodes, %ld edges: %s\n", nodes, g.edges, wrong ? "WRONG" : "verified");
  return wrong != 0;
}
