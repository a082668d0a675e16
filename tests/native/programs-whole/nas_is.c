/* Integer sort, as NAS IS: keys ranked by counting, with bucket tables of each thread, then moved and checked. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int key_count, key_limit, rounds;
static int *keys, *ranked, *sorted;
static int** histograms; /* [thread][key] */
static int* totals;

static int* mine;
static long moved;
#pragma omp threadprivate(mine, moved)

static uint32_t mixed(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

static void make_keys(void) {
#pragma omp parallel for
  for (int i = 0; i < key_count; ++i) {
    uint32_t sum = 0;
    for (int k = 0; k < 4; ++k) sum += mixed((uint32_t)(4 * i + k)) % (uint32_t)(key_limit / 4);
    keys[i] = (int)sum;
  }
}

static void make_tables(void) {
  histograms = calloc((size_t)omp_get_max_threads(), sizeof *histograms);
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    mine = malloc((size_t)key_limit * sizeof *mine);
    histograms[me] = mine;
    moved = 0;
  }
}

static void rank_keys(int round) {
#pragma omp master
  {
    keys[round] = round;
    keys[round + rounds] = key_limit - round - 1;
  }
#pragma omp barrier
  memset(mine, 0, (size_t)key_limit * sizeof *mine);
#pragma omp for nowait schedule(static)
  for (int i = 0; i < key_count; ++i) ++mine[keys[i]];
#pragma omp barrier
  const int team = omp_get_num_threads();
  /* The start of each thread's keys of one value: keys of lower threads come first. */
#pragma omp for schedule(static)
  for (int k = 0; k < key_limit; ++k) {
    int sum = 0;
    for (int t = 0; t < team; ++t) {
      const int count = histograms[t][k];
      histograms[t][k] = sum;
      sum += count;
    }
    totals[k] = sum;
  }
#pragma omp single
  {
    int sum = 0;
    for (int k = 0; k < key_limit; ++k) {
      const int count = totals[k];
      totals[k] = sum;
      sum += count;
    }
    if (sum != key_count) {
      fprintf(stderr, "%d keys counted, not %d\n", sum, key_count);
      exit(1);
    }
  }
#pragma omp for schedule(static)
  for (int i = 0; i < key_count; ++i) {
    const int key = keys[i], place = totals[key] + mine[key]++;
    sorted[place] = key;
    ranked[i] = place;
    ++moved;
  }
}

static int compare(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

static int check(void) {
  int wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 1; i < key_count; ++i) wrong += sorted[i - 1] > sorted[i];
#pragma omp parallel for reduction(+ : wrong)
  for (int i = 0; i < key_count; ++i) wrong += sorted[ranked[i]] != keys[i];
  int* copy = malloc((size_t)key_count * sizeof *copy);
  memcpy(copy, keys, (size_t)key_count * sizeof *copy);
  qsort(copy, (size_t)key_count, sizeof *copy, compare);
  wrong += memcmp(copy, sorted, (size_t)key_count * sizeof *copy) != 0;
  free(copy);
  return wrong;
}

int main(int argc, char** argv) {
  key_count = argc > 1 ? atoi(argv[1]) : 1 << 16;
  key_limit = argc > 2 ? atoi(argv[2]) : 1 << 11;
  rounds = argc > 3 ? atoi(argv[3]) : 5;
  if (key_count < 4 * rounds || key_limit < 8) return fprintf(stderr, "is [keys [limit [rounds]]]\n"), 2;
  keys = malloc((size_t)key_count * sizeof *keys);
  ranked = malloc((size_t)key_count * sizeof *ranked);
  sorted = malloc((size_t)key_count * sizeof *sorted);
  totals = malloc((size_t)key_limit * sizeof *totals);
  make_keys();
  make_tables();
  const double begun = omp_get_wtime();
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel
    rank_keys(round);
    wrong += check();
  }
  long all = 0;
#pragma omp parallel reduction(+ : all)
  {
    all += moved;
    free(mine);
  }
  wrong += all != (long)rounds * key_count;
  printf("is: %d keys, %.3f s: %s\n", key_count, omp_get_wtime() - begun, wrong ? "WRONG" : "verified");
  free(keys), free(ranked), free(sorted), free(totals), free(histograms);
  return wrong != 0;
}
