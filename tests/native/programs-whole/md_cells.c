/* Molecular dynamics with cell lists: particles bound into cells under atomics, forces by neighbours, energy by
   reductions, a re-sort of the particles by cell, a neighbour list of each particle grown in the parallel region. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double position[3], velocity[3], force[3];
  int id, cell;
} Particle;

typedef struct {
  int *others, count, room;
} Neighbours;

static const double cutoff = 2.5, skin = 0.3, step = 0.004;
static int count, cells_per_side;
static double side;
static Particle* particles;
static Neighbours* lists;
static int *heads, *nexts;
static long pairs;

static double* scratch;
#pragma omp threadprivate(scratch)

static double wrapped(double d) {
  return d - side * rint(d / side);
}

static void make_particles(int per_side) {
  count = per_side * per_side * per_side;
  side = 1.2 * per_side;
  cells_per_side = (int)(side / (cutoff + skin));
  particles = malloc((size_t)count * sizeof *particles);
  lists = calloc((size_t)count, sizeof *lists);
  heads = malloc((size_t)(cells_per_side * cells_per_side * cells_per_side) * sizeof *heads);
  nexts = malloc((size_t)count * sizeof *nexts);
  for (int i = 0; i < count; ++i) {
    Particle* p = &particles[i];
    const int at[3] = {i / per_side / per_side, i / per_side % per_side, i % per_side};
    for (int k = 0; k < 3; ++k) {
      p->position[k] = 1.2 * at[k] + 0.05 * sin(3.0 * i + k);
      p->velocity[k] = 0.3 * cos(1.7 * i + 2 * k);
      p->force[k] = 0;
    }
    p->id = i;
  }
}

static int cell_of(const Particle* p) {
  int at[3];
  for (int k = 0; k < 3; ++k) {
    const double x = p->position[k] - side * floor(p->position[k] / side);
    at[k] = (int)(x / side * cells_per_side);
    if (at[k] == cells_per_side) at[k] = 0;
  }
  return (at[0] * cells_per_side + at[1]) * cells_per_side + at[2];
}

static int by_cell(const void* a, const void* b) {
  const Particle *p = a, *q = b;
  return p->cell != q->cell ? p->cell - q->cell : p->id - q->id;
}

/* Cells hold lists whose order depends on timing; the neighbours are sorted, so that sums do not. */
static int ascending(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

static void add(Neighbours* list, int other) {
  if (list->count == list->room) {
    list->room += list->room / 2 + 8;
    list->others = realloc(list->others, (size_t)list->room * sizeof *list->others);
  }
  list->others[list->count++] = other;
}

static void bin(void) {
  const int cells = cells_per_side * cells_per_side * cells_per_side;
#pragma omp for
  for (int c = 0; c < cells; ++c) heads[c] = -1;
#pragma omp for
  for (int i = 0; i < count; ++i) {
    const int cell = particles[i].cell = cell_of(&particles[i]);
#pragma omp atomic capture
    {
      nexts[i] = heads[cell];
      heads[cell] = i;
    }
  }
}

static void find_neighbours(void) {
  const double reach = (cutoff + skin) * (cutoff + skin);
#pragma omp for schedule(dynamic, 16) reduction(+ : pairs)
  for (int i = 0; i < count; ++i) {
    Neighbours* list = &lists[i];
    list->count = 0;
    const int cell = particles[i].cell, n = cells_per_side;
    const int at[3] = {cell / n / n, cell / n % n, cell % n};
    int visited[27], cells = 0;
    for (int k = 0; k < 27; ++k) {
      const int other =
          ((at[0] + k / 9 + n - 1) % n * n + (at[1] + k / 3 % 3 + n - 1) % n) * n + (at[2] + k % 3 + n - 1) % n;
      int known = 0;
      for (int m = 0; m < cells; ++m) known |= visited[m] == other;
      if (known) continue; /* fewer than three cells a side */
      visited[cells++] = other;
      for (int j = heads[other]; j >= 0; j = nexts[j]) {
        if (j == i) continue;
        double r2 = 0;
        for (int d = 0; d < 3; ++d) {
          const double x = wrapped(particles[i].position[d] - particles[j].position[d]);
          r2 += x * x;
        }
        if (r2 < reach) add(list, j);
      }
    }
    qsort(list->others, (size_t)list->count, sizeof *list->others, ascending);
    pairs += list->count;
  }
}

static double pair(const Particle* p, const Particle* q, double* force) {
  double d[3], r2 = 0;
  for (int k = 0; k < 3; ++k) {
    d[k] = wrapped(p->position[k] - q->position[k]);
    r2 += d[k] * d[k];
  }
  if (r2 >= cutoff * cutoff) return 0;
  const double i6 = 1 / (r2 * r2 * r2), scale = 48 * i6 * (i6 - 0.5) / r2;
  for (int k = 0; k < 3; ++k) force[k] += scale * d[k];
  return 4 * i6 * (i6 - 1);
}

static void forces(double* potential) {
#pragma omp for reduction(+ : potential[:1]) schedule(static)
  for (int i = 0; i < count; ++i) {
    double force[3] = {0, 0, 0}, energy = 0;
    for (int k = 0; k < lists[i].count; ++k) energy += pair(&particles[i], &particles[lists[i].others[k]], force);
    memcpy(particles[i].force, force, sizeof force);
    potential[0] += energy / 2;
  }
}

/* All pairs, each once, into arrays of each thread: another way to the same forces. */
static double half_pairs_error(void) {
  double worst = 0;
  double* total = calloc((size_t)(3 * count), sizeof *total);
#pragma omp parallel
  {
    scratch = calloc((size_t)(3 * count), sizeof *scratch);
#pragma omp for schedule(static, 8)
    for (int i = 0; i < count; ++i)
      for (int j = i + 1; j < count; ++j) {
        double force[3] = {0, 0, 0};
        pair(&particles[i], &particles[j], force);
        for (int k = 0; k < 3; ++k) {
          scratch[3 * i + k] += force[k];
          scratch[3 * j + k] -= force[k];
        }
      }
#pragma omp critical
    for (int k = 0; k < 3 * count; ++k) total[k] += scratch[k];
    free(scratch);
  }
#pragma omp parallel for reduction(max : worst)
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < 3; ++k) worst = fmax(worst, fabs(total[3 * i + k] - particles[i].force[k]));
  free(total);
  return worst;
}

int main(int argc, char** argv) {
  make_particles(argc > 1 ? atoi(argv[1]) : 8);
  const int steps = argc > 2 ? atoi(argv[2]) : 10, again = 5;
  double potential = 0, kinetic = 0, first = 0, last = 0, drift = 0;
  const double begun = omp_get_wtime();
#pragma omp parallel default(none) shared(potential, kinetic, first, last, particles, count, pairs) \
    firstprivate(steps, again, step)
  {
    for (int s = 0; s <= steps; ++s) {
      if (s % again == 0) {
        bin();
#pragma omp single
        {
          qsort(particles, (size_t)count, sizeof *particles, by_cell);
          pairs = 0;
        }
        bin();
        find_neighbours();
      }
#pragma omp single
      potential = kinetic = 0;
      forces(&potential);
#pragma omp for reduction(+ : kinetic)
      for (int i = 0; i < count; ++i) {
        Particle* p = &particles[i];
        for (int k = 0; k < 3; ++k) {
          const double half = p->velocity[k] + step / 2 * p->force[k];
          kinetic += half * half / 2;
          p->velocity[k] += step * p->force[k];
          p->position[k] += step * p->velocity[k];
        }
      }
#pragma omp master
      {
        if (s == 1) first = potential + kinetic;
        last = potential + kinetic;
      }
#pragma omp barrier
    }
  }
  const double time = omp_get_wtime() - begun;
  int wrong = 0;
  double momentum[3] = {0, 0, 0}, begin_momentum[3] = {0, 0, 0};
#pragma omp parallel for reduction(+ : momentum[:3], begin_momentum[:3], wrong)
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < 3; ++k) {
      momentum[k] += particles[i].velocity[k];
      begin_momentum[k] += 0.3 * cos(1.7 * particles[i].id + 2 * k);
      wrong += !(fabs(particles[i].position[k]) < 1e6);
    }
  for (int k = 0; k < 3; ++k) drift = fmax(drift, fabs(momentum[k] - begin_momentum[k]));
#pragma omp parallel
  {
    bin();
    find_neighbours();
    forces(&potential);
  }
  const double difference = half_pairs_error();
  wrong += difference > 1e-8 || drift > 1e-9 || fabs(last - first) > 0.02 * fabs(first);
  printf("md: %d particles, %d cells a side, energy %.6f %.6f, drift %.1e, forces differ by %.1e, %.3f s: %s\n", count,
         cells_per_side, first, last, drift, difference, time, wrong ? "WRONG" : "verified");
  for (int i = 0; i < count; ++i) free(lists[i].others);
  free(lists), free(particles), free(heads), free(nexts);
  return wrong != 0;
}
