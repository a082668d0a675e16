/* Sorts by tasks: merge sort with taskwait, quick sort with final and mergeable tasks, a bitonic network, a radix sort
   by taskloops, samples sorted by sections; keys with equal neighbours, stability of the merge. */
#include <alloca.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t key, place;
} item;

static int cutoff = 512;
static long tasks_made;

static int less(item a, item b) {
  return a.key < b.key;
}

static void insertion(item* x, int n) {
  for (int i = 1; i < n; ++i) {
    const item v = x[i];
    int j = i;
    for (; j > 0 && less(v, x[j - 1]); --j) x[j] = x[j - 1];
    x[j] = v;
  }
}

static int lower_bound(const item* x, int n, item v) {
  int low = 0;
  while (n > 0) {
    const int half = n / 2;
    if (less(x[low + half], v)) {
      low += half + 1;
      n -= half + 1;
    } else
      n = half;
  }
  return low;
}

static int upper_bound(const item* x, int n, item v) {
  int low = 0;
  while (n > 0) {
    const int half = n / 2;
    if (!less(v, x[low + half])) {
      low += half + 1;
      n -= half + 1;
    } else
      n = half;
  }
  return low;
}

static void merged(const item* a, int m, const item* b, int n, item* to) {
  if (m + n <= cutoff) {
    while (m > 0 && n > 0)
      if (less(*b, *a))
        *to++ = *b++, --n;
      else
        *to++ = *a++, --m;
    memcpy(to, a, (size_t)m * sizeof *a);
    memcpy(to + m, b, (size_t)n * sizeof *b);
    return;
  }
  int i, j;
  if (m >= n) {
    i = m / 2;
    j = lower_bound(b, n, a[i]);
  } else {
    j = n / 2;
    i = upper_bound(a, m, b[j]);
  }
#pragma omp task
  merged(a, i, b, j, to);
#pragma omp task
  merged(a + i, m - i, b + j, n - j, to + i + j);
#pragma omp taskwait
}

static void merge_sort(item* x, item* scratch, int n) {
  if (n <= cutoff / 8) return insertion(x, n);
  const int half = n / 2;
#pragma omp task untied
  merge_sort(x, scratch, half);
#pragma omp task untied
  merge_sort(x + half, scratch + half, n - half);
#pragma omp taskwait
  merged(x, half, x + half, n - half, scratch);
  memcpy(x, scratch, (size_t)n * sizeof *x);
}

static void quick_sort(item* x, int n, int depth) {
  while (n > 32) {
    const uint32_t pivot = x[n / 2].key;
    int i = 0, j = n - 1;
    for (;;) {
      while (x[i].key < pivot) ++i;
      while (x[j].key > pivot) --j;
      if (i >= j) break;
      const item swap = x[i];
      x[i++] = x[j];
      x[j--] = swap;
    }
#pragma omp atomic
    ++tasks_made;
#pragma omp task final(depth > 6) mergeable firstprivate(x, i, depth) if (n > cutoff) priority(depth)
    quick_sort(x, i, depth + 1);
    x += i;
    n -= i;
    ++depth;
  }
  insertion(x, n);
}

static void radix_sort(item* x, item* scratch, int n) {
  enum { PIECES = 8, DIGITS = 256 };
  int(*counts)[DIGITS] = malloc(sizeof(int[PIECES][DIGITS]));
  for (int shift = 0; shift < 32; shift += 8) {
    memset(counts, 0, sizeof(int[PIECES][DIGITS]));
#pragma omp taskloop num_tasks(PIECES) shared(counts, x)
    for (int p = 0; p < PIECES; ++p)
      for (int i = n / PIECES * p; i < (p == PIECES - 1 ? n : n / PIECES * (p + 1)); ++i)
        ++counts[p][x[i].key >> shift & 255];
    int sum = 0;
    for (int d = 0; d < DIGITS; ++d)
      for (int p = 0; p < PIECES; ++p) {
        const int c = counts[p][d];
        counts[p][d] = sum;
        sum += c;
      }
#pragma omp taskloop grainsize(1) shared(counts, x, scratch)
    for (int p = 0; p < PIECES; ++p)
      for (int i = n / PIECES * p; i < (p == PIECES - 1 ? n : n / PIECES * (p + 1)); ++i)
        scratch[counts[p][x[i].key >> shift & 255]++] = x[i];
    item* swap = x;
    x = scratch;
    scratch = swap;
  }
  free(counts);
}

static void bitonic(item* x, int n) { /* n: a power of two */
#pragma omp parallel
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
#pragma omp for schedule(static)
      for (int i = 0; i < n; ++i) {
        const int other = i ^ j;
        if (other < i) continue;
        if ((x[i].key > x[other].key) == !(i & k)) {
          const item swap = x[i];
          x[i] = x[other];
          x[other] = swap;
        }
      }
    }
}

static void samples(item* x, item* scratch, int n) {
  enum { PARTS = 4 };
  uint32_t bounds[PARTS + 1] = {0};
  int begins[PARTS + 1] = {0};
  for (int p = 1; p < PARTS; ++p) bounds[p] = (uint32_t)p * (UINT32_MAX / PARTS);
  bounds[PARTS] = UINT32_MAX;
  for (int p = 0; p < PARTS; ++p) {
    begins[p + 1] = begins[p];
    for (int i = 0; i < n; ++i)
      if (x[i].key >= bounds[p] && (x[i].key < bounds[p + 1] || p == PARTS - 1)) scratch[begins[p + 1]++] = x[i];
  }
  memcpy(x, scratch, (size_t)n * sizeof *x);
#pragma omp parallel sections
  {
#pragma omp section
    insertion(x, begins[1]);
#pragma omp section
    insertion(x + begins[1], begins[2] - begins[1]);
#pragma omp section
    insertion(x + begins[2], begins[3] - begins[2]);
#pragma omp section
    insertion(x + begins[3], begins[4] - begins[3]);
  }
}

static uint64_t digest(const item* x, int n) {
  uint64_t sum = 0;
  for (int i = 0; i < n; ++i) sum += (x[i].key + UINT64_C(1)) * (x[i].place * UINT64_C(2) + 1);
  return sum;
}

static int wrong(const char* what, const item* x, int n, uint64_t expected, int stable) {
  for (int i = 1; i < n; ++i)
    if (x[i].key < x[i - 1].key || (stable && x[i].key == x[i - 1].key && x[i].place < x[i - 1].place))
      return fprintf(stderr, "%s: item %d of %d\n", what, i, n), 1;
  if (digest(x, n) != expected) return fprintf(stderr, "%s: items were lost\n", what), 1;
  return 0;
}

static void fill(item* x, int n) {
  uint32_t state = 2463534242u;
  for (int i = 0; i < n; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    x[i] = (item){i % 3 ? state : state % 100 * 40000000u, (uint32_t)i};
  }
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1 << 14;
  if (argc > 2) cutoff = atoi(argv[2]);
  item *x = malloc((size_t)n * sizeof *x), *scratch = malloc((size_t)n * sizeof *scratch);
  fill(x, n);
  const uint64_t expected = digest(x, n);
  int bad = 0;
  const double begun = omp_get_wtime();
#pragma omp parallel
#pragma omp single
  merge_sort(x, scratch, n);
  bad += wrong("merge sort", x, n, expected, 1);
  fill(x, n);
#pragma omp parallel
  {
#pragma omp single nowait
    quick_sort(x, n, 0);
  }
  bad += wrong("quick sort", x, n, expected, 0);
  fill(x, n);
#pragma omp parallel master
  radix_sort(x, scratch, n);
  bad += wrong("radix sort", x, n, expected, 1);
  int power = 1;
  while (2 * power <= n && power < 4096) power *= 2;
  fill(x, power);
  const uint64_t part = digest(x, power);
  bitonic(x, power);
  bad += wrong("bitonic sort", x, power, part, 0);
  item *on_stack = alloca(2048 * sizeof *on_stack), *also = alloca(2048 * sizeof *also);
  const int few = n < 2048 ? n : 2048;
  fill(on_stack, few);
  const uint64_t small = digest(on_stack, few);
  samples(on_stack, also, few);
  bad += wrong("samples", on_stack, few, small, 1);
  printf("sorts: %d items, %ld tasks, %.3f s: %s\n", n, tasks_made, omp_get_wtime() - begun,
         bad ? "WRONG" : "verified");
  free(x), free(scratch);
  return bad != 0;
}
