/* Staggered-grid hydrodynamics of a blast, as LULESH: elements and nodes, gathered forces, an equation of state with
   early exits, the time step by a min reduction, snapshots written and read again by one thread. */
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  double x, y, u, v, fx, fy, mass;
} Node;

typedef struct {
  int corner[4];
  double volume, before, energy, pressure, viscosity, mass, speed;
  double force_x[4], force_y[4];
} Element;

typedef struct {
  int n, cycle;
  double time, step;
  Node* nodes;
  Element* elements;
} Domain;

static double tolerance = 1e-10;
static int failed_volume;

static double area(const Domain* d, const Element* e) {
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    const Node *a = &d->nodes[e->corner[k]], *b = &d->nodes[e->corner[(k + 1) & 3]];
    sum += a->x * b->y - b->x * a->y;
  }
  return sum / 2;
}

static Domain make_domain(int n) {
  Domain d = {.n = n, .step = 1e-4};
  d.nodes = calloc((size_t)((n + 1) * (n + 1)), sizeof *d.nodes);
  if (posix_memalign((void**)&d.elements, 64, (size_t)(n * n) * sizeof *d.elements)) exit(3);
#pragma omp parallel
  {
#pragma omp for collapse(2)
    for (int i = 0; i <= n; ++i)
      for (int j = 0; j <= n; ++j) {
        Node* node = &d.nodes[i * (n + 1) + j];
        node->x = (double)i / n;
        node->y = (double)j / n;
      }
#pragma omp for collapse(2)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        Element* e = &d.elements[i * n + j];
        memset(e, 0, sizeof *e);
        e->corner[0] = i * (n + 1) + j;
        e->corner[1] = (i + 1) * (n + 1) + j;
        e->corner[2] = e->corner[1] + 1;
        e->corner[3] = e->corner[0] + 1;
        e->volume = e->before = e->mass = area(&d, e);
        e->energy = i + j == 0 ? 20.0 / n : 1e-4;
      }
  }
  for (int e = 0; e < n * n; ++e)
    for (int k = 0; k < 4; ++k) d.nodes[d.elements[e].corner[k]].mass += d.elements[e].mass / 4;
  return d;
}

static void forces(Domain* d) {
#pragma omp for nowait schedule(static)
  for (int i = 0; i < d->n * d->n; ++i) {
    Element* e = &d->elements[i];
    const double p = e->pressure + e->viscosity;
    for (int k = 0; k < 4; ++k) {
      const Node *next = &d->nodes[e->corner[(k + 1) & 3]], *last = &d->nodes[e->corner[(k + 3) & 3]];
      e->force_x[k] = p * (next->y - last->y) / 2;
      e->force_y[k] = -p * (next->x - last->x) / 2;
    }
  }
#pragma omp barrier
#pragma omp for schedule(static)
  for (int at = 0; at < (d->n + 1) * (d->n + 1); ++at) {
    const int i = at / (d->n + 1), j = at % (d->n + 1);
    double fx = 0, fy = 0;
    static const int back[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    for (int k = 0; k < 4; ++k) {
      const int ei = i - back[k][0], ej = j - back[k][1];
      if (ei < 0 || ej < 0 || ei >= d->n || ej >= d->n) continue;
      fx += d->elements[ei * d->n + ej].force_x[k];
      fy += d->elements[ei * d->n + ej].force_y[k];
    }
    d->nodes[at].fx = i == 0 || i == d->n ? 0 : fx;
    d->nodes[at].fy = j == 0 || j == d->n ? 0 : fy;
  }
}

static void advance(Domain* d) {
#pragma omp for simd schedule(simd : static)
  for (int at = 0; at < (d->n + 1) * (d->n + 1); ++at) {
    Node* node = &d->nodes[at];
    node->u += d->step * node->fx / node->mass;
    node->v += d->step * node->fy / node->mass;
    node->x += d->step * node->u;
    node->y += d->step * node->v;
  }
}

static void state_of(Domain* d, Element* e) {
  e->before = e->volume;
  e->volume = area(d, e);
  if (e->volume <= 0) {
#pragma omp atomic write
    failed_volume = 1;
    return;
  }
  const double change = e->volume - e->before, density = e->mass / e->volume;
  e->energy -= (e->pressure + e->viscosity) * change / e->mass;
  if (e->energy < 1e-12) e->energy = 1e-12;
  e->pressure = 0.4 * density * e->energy;
  if (e->pressure < tolerance) e->pressure = 0;
  const double rate = change / (e->volume * d->step), size = sqrt(e->volume);
  e->speed = sqrt(1.4 * e->pressure / density + 1e-9);
  e->viscosity = rate < 0 ? density * size * -rate * (1.5 * size * -rate + 0.3 * e->speed) : 0;
}

static void run(Domain* d, int cycles) {
  double least = 1e20;
#pragma omp parallel firstprivate(cycles)
  for (int c = 0; c < cycles; ++c) {
    forces(d);
    advance(d);
#pragma omp for schedule(static)
    for (int i = 0; i < d->n * d->n; ++i) state_of(d, &d->elements[i]);
#pragma omp single
    least = 1e20;
#pragma omp for reduction(min : least)
    for (int i = 0; i < d->n * d->n; ++i) {
      const Element* e = &d->elements[i];
      const double limit = 0.2 * sqrt(e->volume) / (e->speed + sqrt(e->viscosity / (e->mass / e->volume)) + 1e-12);
      if (limit < least) least = limit;
    }
#pragma omp single
    {
      d->time += d->step;
      d->step = fmin(1.1 * d->step, least);
      ++d->cycle;
      if (failed_volume) {
        fprintf(stderr, "cycle %d: an element is inside out\n", d->cycle);
        exit(1);
      }
    }
  }
}

static bool snapshot(const Domain* d, const char* name, Domain* again) {
  FILE* file = fopen(name, "wb");
  if (!file) return fprintf(stderr, "%s: %s\n", name, strerror(errno)), false;
  const size_t nodes = (size_t)((d->n + 1) * (d->n + 1)), elements = (size_t)(d->n * d->n);
  bool good = fwrite(d, sizeof *d, 1, file) == 1 && fwrite(d->nodes, sizeof *d->nodes, nodes, file) == nodes;
  good = fwrite(d->elements, sizeof *d->elements, elements, file) == elements && good;
  good = fclose(file) == 0 && good;
  file = fopen(name, "rb");
  if (!file || !good) return false;
  good = fread(again, sizeof *again, 1, file) == 1;
  again->nodes = malloc(nodes * sizeof *again->nodes);
  again->elements = malloc(elements * sizeof *again->elements);
  good = good && fread(again->nodes, sizeof *again->nodes, nodes, file) == nodes &&
         fread(again->elements, sizeof *again->elements, elements, file) == elements && fgetc(file) == EOF;
  fclose(file);
  return remove(name) == 0 && good;
}

int main(int argc, char** argv) {
  int n = 24, cycles = 30, option;
  while ((option = getopt(argc, argv, "n:c:t:")) != -1) {
    if (option == 'n')
      n = atoi(optarg);
    else if (option == 'c')
      cycles = atoi(optarg);
    else if (option == 't')
      tolerance = strtod(optarg, NULL);
    else
      return 2;
  }
  Domain d = make_domain(n), again;
  const double begun = omp_get_wtime();
  run(&d, cycles / 2);
  char name[64];
  snprintf(name, sizeof name, "hydro-%ld.tmp", (long)getpid());
  if (!snapshot(&d, name, &again)) return puts("hydro: the snapshot failed"), 1;
  run(&d, cycles - cycles / 2);
  const double time = omp_get_wtime() - begun;
  omp_set_num_threads(1);
  run(&again, cycles - cycles / 2);
  Domain alone = make_domain(n);
  run(&alone, cycles);
  const size_t nodes = (size_t)((n + 1) * (n + 1)) * sizeof(Node), elements = (size_t)(n * n) * sizeof(Element);
  int wrong = memcmp(d.nodes, alone.nodes, nodes) || memcmp(d.elements, alone.elements, elements);
  wrong += memcmp(again.nodes, alone.nodes, nodes) || memcmp(again.elements, alone.elements, elements);
  double skew = 0, moved = 0;
#pragma omp parallel for collapse(2) reduction(max            \
                                               : skew, moved) \
    num_threads(2) if (omp_get_thread_limit() > 1 && omp_get_num_procs() > 9999)
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j) {
      skew = fmax(skew, fabs(d.nodes[i * (n + 1) + j].x - d.nodes[j * (n + 1) + i].y));
      moved = fmax(moved, fabs(d.nodes[i * (n + 1) + j].x - (double)i / n));
    }
  wrong += skew > 1e-10 || moved < 1e-6 || d.cycle != cycles;
  printf("hydro: %d cycles to %.6f, moved %.3g, skew %.1e, %.3f s: %s\n", d.cycle, d.time, moved, skew, time,
         wrong ? "WRONG" : "verified");
  return wrong != 0;
}
