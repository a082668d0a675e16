/* Data mining, as in graph and data suites: points made to a file by one thread and read by lines, k-means with float
   sums, lists of members reallocated in the parallel region, nearest neighbours in heaps of each thread, a k-d tree by
   qsort and tasks, a histogram equalised, names of clusters as strings. */
#define _GNU_SOURCE
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIMENSIONS = 3, NEAREST = 5 };

typedef struct {
  float x[DIMENSIONS];
  int cluster;
  char* name;
} point;

typedef struct {
  int *members, count, room;
  double sum[DIMENSIONS];
  char* label;
} cluster;

static point* points;
static int count, clusters;

static float noise(unsigned* seed) {
  const int r = rand_r(seed);
  return (float)(r % 10000) / 10000;
}

static int read_points(const char* name) {
  FILE* file = fopen(name, "r");
  if (!file) return perror(name), 0;
  char* line = NULL;
  size_t room = 0;
  int read = 0, size = 0;
  while (getline(&line, &room, file) > 0) {
    if (line[0] == '#' || isspace((unsigned char)line[0])) continue;
    if (read == size) {
      size = size ? 2 * size : 64;
      points = realloc(points, (size_t)size * sizeof *points);
    }
    point* p = &points[read];
    char *rest = NULL, *word = strtok_r(line, " ,", &rest);
    p->name = strdup(word);
    for (int d = 0; d < DIMENSIONS; ++d) {
      word = strtok_r(NULL, " ,\n", &rest);
      if (!word) return fprintf(stderr, "%s: a point without coordinates\n", name), 0;
      p->x[d] = strtof(word, NULL);
    }
    p->cluster = -1;
    ++read;
  }
  free(line);
  fclose(file);
  return read;
}

static int write_points(const char* name, int n) {
  FILE* file = fopen(name, "w");
  if (!file) return 0;
  fputs("# name x,y,z\n\n", file);
  unsigned seed = 3;
  for (int i = 0; i < n; ++i) {
    const int c = i % 4;
    fprintf(file, "p%d %.4f,%.4f,%.4f\n", i, (double)(noise(&seed) + (float)(3 * (c & 1))),
            (double)(noise(&seed) + (float)(3 * (c >> 1))), (double)noise(&seed));
  }
  return fclose(file) == 0;
}

static float distance(const float* a, const float* b) {
  float sum = 0;
  for (int d = 0; d < DIMENSIONS; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

static int means(float (*centres)[DIMENSIONS], cluster* all, int most) {
  int changed = 1, rounds = 0;
  for (; changed && rounds < most; ++rounds) {
    changed = 0;
    double(*sums)[DIMENSIONS] = calloc((size_t)clusters, sizeof *sums);
    long* sizes = calloc((size_t)clusters, sizeof *sizes);
#pragma omp parallel reduction(+ : changed)
    {
      double(*own)[DIMENSIONS] = calloc((size_t)clusters, sizeof *own);
      long* own_sizes = calloc((size_t)clusters, sizeof *own_sizes);
#pragma omp for
      for (int i = 0; i < count; ++i) {
        int best = 0;
        for (int c = 1; c < clusters; ++c)
          if (distance(points[i].x, centres[c]) < distance(points[i].x, centres[best])) best = c;
        changed += points[i].cluster != best;
        points[i].cluster = best;
        ++own_sizes[best];
        for (int d = 0; d < DIMENSIONS; ++d) own[best][d] += (double)points[i].x[d];
      }
#pragma omp critical
      for (int c = 0; c < clusters; ++c) {
        sizes[c] += own_sizes[c];
        for (int d = 0; d < DIMENSIONS; ++d) sums[c][d] += own[c][d];
      }
      free(own), free(own_sizes);
    }
    for (int c = 0; c < clusters; ++c)
      for (int d = 0; d < DIMENSIONS; ++d)
        if (sizes[c]) centres[c][d] = (float)(sums[c][d] / (double)sizes[c]);
    free(sums), free(sizes);
  }
  /* Lists of members: each cluster's, by whichever thread meets them, in blocks that grow. */
  omp_lock_t* locks = malloc((size_t)clusters * sizeof *locks);
  for (int c = 0; c < clusters; ++c) omp_init_lock(&locks[c]);
#pragma omp parallel for schedule(dynamic, 10)
  for (int i = 0; i < count; ++i) {
    cluster* to = &all[points[i].cluster];
    omp_set_lock(&locks[points[i].cluster]);
    if (to->count == to->room)
      to->members = realloc(to->members, (size_t)(to->room = 2 * to->room + 3) * sizeof *to->members);
    to->members[to->count++] = i;
    for (int d = 0; d < DIMENSIONS; ++d) to->sum[d] += (double)points[i].x[d];
    omp_unset_lock(&locks[points[i].cluster]);
  }
  for (int c = 0; c < clusters; ++c) omp_destroy_lock(&locks[c]);
  free(locks);
#pragma omp parallel for schedule(static, 1)
  for (int c = 0; c < clusters; ++c)
    if (asprintf(&all[c].label, "cluster %d of %d members", c, all[c].count) < 0) abort();
  return rounds;
}

static int members_wrong(const cluster* all, float (*centres)[DIMENSIONS]) {
  char* seen = calloc((size_t)count, 1);
  int wrong = 0, sum = 0;
  for (int c = 0; c < clusters; ++c) {
    int number = -1, members = -1;
    wrong += sscanf(all[c].label, "cluster %d of %d members", &number, &members) != 2 || number != c ||
             members != all[c].count;
    for (int k = 0; k < all[c].count; ++k) {
      wrong += points[all[c].members[k]].cluster != c || seen[all[c].members[k]];
      seen[all[c].members[k]] = 1;
    }
    sum += all[c].count;
    for (int d = 0; d < DIMENSIONS; ++d)
      wrong += all[c].count && fabs(all[c].sum[d] / all[c].count - (double)centres[c][d]) > 1e-3;
  }
  free(seen);
  return wrong + (sum != count);
}

typedef struct node {
  int point;
  struct node* sides[2];
} node;

static int sort_axis;
#pragma omp threadprivate(sort_axis)

static int along_axis(const void* a, const void* b) {
  const float x = points[*(const int*)a].x[sort_axis], y = points[*(const int*)b].x[sort_axis];
  return x < y ? -1 : x > y ? 1 : *(const int*)a - *(const int*)b;
}

static node* tree_of(int* numbers, int n, int depth) {
  if (n == 0) return NULL;
  sort_axis = depth % DIMENSIONS;
  qsort(numbers, (size_t)n, sizeof *numbers, along_axis);
  node* made = malloc(sizeof *made);
  made->point = numbers[n / 2];
#pragma omp task shared(made) if (n > 64)
  made->sides[0] = tree_of(numbers, n / 2, depth + 1);
#pragma omp task shared(made) if (n > 64)
  made->sides[1] = tree_of(numbers + n / 2 + 1, n - n / 2 - 1, depth + 1);
#pragma omp taskwait
  return made;
}

typedef struct {
  float distances[NEAREST];
  int found;
} nearest;

static void keep(nearest* list, float d) {
  int at = list->found < NEAREST ? list->found++ : NEAREST - 1;
  if (at == NEAREST - 1 && list->found == NEAREST && list->distances[at] < d && list->distances[at] > 0) return;
  for (; at > 0 && list->distances[at - 1] > d; --at) list->distances[at] = list->distances[at - 1];
  list->distances[at] = d;
}

static void look(const node* at, int depth, int from, nearest* list) {
  if (!at) return;
  if (at->point != from) keep(list, distance(points[at->point].x, points[from].x));
  const float offset = points[from].x[depth % DIMENSIONS] - points[at->point].x[depth % DIMENSIONS];
  look(at->sides[offset > 0], depth + 1, from, list);
  if (list->found < NEAREST || offset * offset <= list->distances[NEAREST - 1])
    look(at->sides[offset <= 0], depth + 1, from, list);
}

static void fell(node* at) {
  if (!at) return;
  fell(at->sides[0]);
  fell(at->sides[1]);
  free(at);
}

static int neighbours_wrong(void) {
  int *numbers = malloc((size_t)count * sizeof *numbers), wrong = 0;
  node* root = NULL;
  for (int i = 0; i < count; ++i) numbers[i] = i;
#pragma omp parallel
#pragma omp single
  root = tree_of(numbers, count, 0);
#pragma omp parallel for reduction(+ : wrong) schedule(guided)
  for (int i = 0; i < count; i += 3) {
    nearest by_tree = {.found = 0}, by_all = {.found = 0};
    look(root, 0, i, &by_tree);
    for (int j = 0; j < count; ++j)
      if (j != i) keep(&by_all, distance(points[j].x, points[i].x));
    wrong += memcmp(by_tree.distances, by_all.distances, sizeof by_all.distances) != 0;
  }
#pragma omp parallel
#pragma omp single
  fell(root);
  free(numbers);
  return wrong;
}

static int histogram_wrong(void) {
  long bins[64] = {0}, plain[64] = {0};
#pragma omp parallel for reduction(+ : bins)
  for (int i = 0; i < count; ++i) ++bins[(int)(points[i].x[0] * 15) & 63];
  for (int i = 0; i < count; ++i) ++plain[(int)(points[i].x[0] * 15) & 63];
  return memcmp(bins, plain, sizeof bins) != 0;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 600;
  clusters = argc > 2 ? atoi(argv[2]) : 4;
  char name[40];
  snprintf(name, sizeof name, "points-%d.tmp", (int)getpid());
  if (!write_points(name, n)) return perror(name), 1;
#pragma omp parallel
#pragma omp single
  count = read_points(name);
  unlink(name);
  if (count != n) return printf("clusters: WRONG, %d points\n", count), 1;
  const double begun = omp_get_wtime();
  float(*centres)[DIMENSIONS] = malloc((size_t)clusters * sizeof *centres);
  cluster* all = calloc((size_t)clusters, sizeof *all);
  for (int c = 0; c < clusters; ++c) memcpy(centres[c], points[c].x, sizeof centres[c]);
  const int rounds = means(centres, all, 20);
  int wrong = members_wrong(all, centres) + neighbours_wrong() + histogram_wrong();
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < count; ++i) {
    char expected[16];
    snprintf(expected, sizeof expected, "p%d", i);
    wrong += strcmp(expected, points[i].name) != 0;
    free(points[i].name);
  }
  printf("clusters: %d points, %d rounds, %s, %.3f s: %s\n", count, rounds, all[0].label, omp_get_wtime() - begun,
         wrong ? "WRONG" : "verified");
  for (int c = 0; c < clusters; ++c) free(all[c].members), free(all[c].label);
  free(all), free(centres), free(points);
  return wrong != 0;
}
