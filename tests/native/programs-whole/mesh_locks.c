/* An unstructured mesh, as NAS UA and edge-based solvers: a lock for each node, nodes that share edges; the same sums
   by locks, by atomics, by colours and by a nested lock; test locks that must not lose a turn. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  omp_lock_t lock;
  double x, y;
  long flux, mass;
  int degree;
};
struct edge {
  int a, b, weight, colour;
};

static int side, node_count, edge_count, colours;
static struct node* nodes;
static struct edge* edges;

static void make_mesh(int n) {
  side = n;
  node_count = n * n;
  nodes = calloc((size_t)node_count, sizeof *nodes);
  edges = malloc((size_t)(3 * node_count) * sizeof *edges);
  int* place = malloc((size_t)node_count * sizeof *place);
  unsigned seed = 7;
  for (int i = 0; i < node_count; ++i) place[i] = i;
  for (int i = node_count - 1; i > 0; --i) { /* numbered at random, in part */
    seed = seed * 1103515245u + 12345u;
    const int j = i - (int)((seed >> 16) % 50u);
    if (j < 0) continue;
    const int swap = place[i];
    place[i] = place[j];
    place[j] = swap;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const int here = place[i * n + j];
      nodes[here].x = i + 0.1 * sin(j);
      nodes[here].y = j + 0.1 * cos(i);
      const int to[3] = {i + 1 < n ? place[(i + 1) * n + j] : -1, j + 1 < n ? place[i * n + j + 1] : -1,
                         i + 1 < n && j + 1 < n ? place[(i + 1) * n + j + 1] : -1};
      for (int k = 0; k < 3; ++k)
        if (to[k] >= 0) edges[edge_count++] = (struct edge){here, to[k], 1 + (i * 7 + j * 3 + k) % 10, 0};
    }
  free(place);
}

static void colour_edges(void) {
  unsigned* used = calloc((size_t)node_count, sizeof *used);
  for (int e = 0; e < edge_count; ++e) {
    const unsigned taken = used[edges[e].a] | used[edges[e].b];
    const int colour = __builtin_ctz(~taken);
    edges[e].colour = colour;
    used[edges[e].a] |= 1u << colour;
    used[edges[e].b] |= 1u << colour;
    if (colour + 1 > colours) colours = colour + 1;
  }
  free(used);
}

static long amount(const struct edge* e) {
  const double dx = nodes[e->a].x - nodes[e->b].x, dy = nodes[e->a].y - nodes[e->b].y;
  return (long)(e->weight * 1000 * sqrt(dx * dx + dy * dy));
}

static void with_lock(struct node* n, long change) {
  omp_set_lock(&n->lock);
  n->flux += change;
  ++n->degree;
  omp_unset_lock(&n->lock);
}

static void by_locks(void) {
#pragma omp parallel for schedule(static)
  for (int e = 0; e < edge_count; ++e) {
    const long change = amount(&edges[e]);
    with_lock(&nodes[edges[e].a], change);
    with_lock(&nodes[edges[e].b], -change);
  }
}

static void by_test_locks(void) {
#pragma omp parallel for schedule(dynamic, 20)
  for (int e = 0; e < edge_count; ++e) {
    const long change = amount(&edges[e]);
    int todo = 3, tries = 0;
    while (todo) {
      for (int k = 0; k < 2; ++k) {
        struct node* n = &nodes[k ? edges[e].b : edges[e].a];
        if (!(todo & 1 << k)) continue;
        if (++tries > 4)
          omp_set_lock(&n->lock);
        else if (!omp_test_lock(&n->lock))
          continue;
        n->flux += k ? -change : change;
        ++n->degree;
        omp_unset_lock(&n->lock);
        todo &= ~(1 << k);
      }
    }
  }
}

static void by_atomics(void) {
#pragma omp parallel for schedule(guided)
  for (int e = 0; e < edge_count; ++e) {
    const long change = amount(&edges[e]);
    struct node *a = &nodes[edges[e].a], *b = &nodes[edges[e].b];
#pragma omp atomic
    a->flux += change;
#pragma omp atomic
    b->flux -= change;
#pragma omp atomic
    a->degree++;
#pragma omp atomic
    b->degree++;
  }
}

static void by_colours(void) {
#pragma omp parallel
  for (int colour = 0; colour < colours; ++colour) {
#pragma omp for
    for (int e = 0; e < edge_count; ++e) {
      if (edges[e].colour != colour) continue;
      const long change = amount(&edges[e]);
      nodes[edges[e].a].flux += change;
      nodes[edges[e].b].flux -= change;
      ++nodes[edges[e].a].degree;
      ++nodes[edges[e].b].degree;
    }
  }
}

/* Both ends at once, in the order of their numbers: no deadlock. */
static void by_pairs(void) {
#pragma omp parallel for
  for (int e = 0; e < edge_count; ++e) {
    const long change = amount(&edges[e]);
    const int low = edges[e].a < edges[e].b ? edges[e].a : edges[e].b, high = edges[e].a + edges[e].b - low;
    omp_set_lock(&nodes[low].lock);
    omp_set_lock(&nodes[high].lock);
    nodes[edges[e].a].flux += change;
    nodes[edges[e].b].flux -= change;
    ++nodes[low].degree;
    ++nodes[high].degree;
    omp_unset_lock(&nodes[high].lock);
    omp_unset_lock(&nodes[low].lock);
  }
}

int main(int argc, char** argv) {
  make_mesh(argc > 1 ? atoi(argv[1]) : 20);
  colour_edges();
  long* flux = calloc((size_t)node_count, sizeof *flux);
  int *degree = calloc((size_t)node_count, sizeof *degree), wrong = 0;
  for (int e = 0; e < edge_count; ++e) {
    flux[edges[e].a] += amount(&edges[e]);
    flux[edges[e].b] -= amount(&edges[e]);
    ++degree[edges[e].a];
    ++degree[edges[e].b];
  }
  for (int i = 0; i < node_count; ++i) omp_init_lock(&nodes[i].lock);
  static const struct {
    const char* name;
    void (*sum)(void);
  } ways[] = {{"locks", by_locks},
              {"test locks", by_test_locks},
              {"atomics", by_atomics},
              {"colours", by_colours},
              {"pairs", by_pairs}};
  const char* only = argc > 2 ? argv[2] : NULL;
  for (size_t k = 0; k < sizeof ways / sizeof *ways; ++k) {
    if (only && strcmp(only, ways[k].name) != 0) continue;
    for (int i = 0; i < node_count; ++i) nodes[i].flux = nodes[i].degree = 0;
    const double begun = omp_get_wtime();
    ways[k].sum();
    const double time = omp_get_wtime() - begun;
    int bad = 0;
    long total = 0;
    for (int i = 0; i < node_count; ++i) {
      bad += nodes[i].flux != flux[i] || nodes[i].degree != degree[i];
      total += nodes[i].flux;
    }
    printf("%s: %.3f s, %d wrong, sum %ld\n", ways[k].name, time, bad, total);
    wrong += bad || total != 0;
  }
  for (int i = 0; i < node_count; ++i) omp_destroy_lock(&nodes[i].lock);
  printf("mesh: %d nodes, %d edges, %d colours: %s\n", node_count, edge_count, colours, wrong ? "WRONG" : "verified");
  free(nodes), free(edges), free(flux), free(degree);
  return wrong != 0;
}
