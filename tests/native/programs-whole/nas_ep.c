/* Embarrassingly parallel, as NAS EP: pairs of random numbers, those in the unit disc made normal, counted by annulus.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 10, RINGS = 10 };

static const uint64_t modulus_mask = (UINT64_C(1) << 46) - 1;
static const uint64_t multiplier = UINT64_C(1220703125);

static double numbers[2 * BATCH];
#pragma omp threadprivate(numbers)

static uint64_t next_seed(uint64_t seed) {
  return (seed * multiplier) & modulus_mask;
}

static uint64_t skip(uint64_t seed, uint64_t count) {
  uint64_t factor = multiplier;
  for (; count; count >>= 1) {
    if (count & 1) seed = (seed * factor) & modulus_mask;
    factor = (factor * factor) & modulus_mask;
  }
  return seed;
}

static void fill(uint64_t seed) {
  for (int i = 0; i < 2 * BATCH; ++i) {
    seed = next_seed(seed);
    numbers[i] = (double)seed * 0x1p-46;
  }
}

struct sums {
  double x, y;
  long rings[RINGS];
};

static void tally(struct sums* s) {
  for (int i = 0; i < BATCH; ++i) {
    const double a = 2 * numbers[2 * i] - 1, b = 2 * numbers[2 * i + 1] - 1, t = a * a + b * b;
    if (t > 1 || t == 0) continue;
    const double factor = sqrt(-2 * log(t) / t), x = a * factor, y = b * factor;
    const double larger = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    ++s->rings[(int)larger < RINGS ? (int)larger : RINGS - 1];
    s->x += x;
    s->y += y;
  }
}

static struct sums serial(int batches) {
  struct sums s;
  memset(&s, 0, sizeof s);
  for (int k = 0; k < batches; ++k) {
    fill(skip(271828183, (uint64_t)k * 2 * BATCH));
    tally(&s);
  }
  return s;
}

static int same(const char* what, struct sums a, struct sums b) {
  int good = fabs(a.x - b.x) < 1e-8 * fabs(b.x) + 1e-9 && fabs(a.y - b.y) < 1e-8 * fabs(b.y) + 1e-9;
  for (int r = 0; r < RINGS; ++r) good &= a.rings[r] == b.rings[r];
  if (!good) fprintf(stderr, "%s: %.12g %.12g, not %.12g %.12g\n", what, a.x, a.y, b.x, b.y);
  return good;
}

static struct sums by_clauses(int batches) {
  struct sums s;
  memset(&s, 0, sizeof s);
  double x = 0, y = 0;
  long* rings = s.rings;
#pragma omp parallel for reduction(+ : x, y) reduction(+ : rings[:RINGS]) schedule(static)
  for (int k = 0; k < batches; ++k) {
    struct sums own;
    memset(&own, 0, sizeof own);
    fill(skip(271828183, (uint64_t)k * 2 * BATCH));
    tally(&own);
    x += own.x;
    y += own.y;
    for (int r = 0; r < RINGS; ++r) rings[r] += own.rings[r];
  }
  s.x = x;
  s.y = y;
  return s;
}

static struct sums by_critical(int batches) {
  struct sums s;
  memset(&s, 0, sizeof s);
#pragma omp parallel
  {
    struct sums own;
    memset(&own, 0, sizeof own);
#pragma omp for nowait
    for (int k = 0; k < batches; ++k) {
      fill(skip(271828183, (uint64_t)k * 2 * BATCH));
      tally(&own);
    }
#pragma omp critical(add)
    {
      s.x += own.x;
      s.y += own.y;
      for (int r = 0; r < RINGS; ++r) s.rings[r] += own.rings[r];
    }
  }
  return s;
}

static struct sums by_atomics(int batches) {
  static struct sums s;
  memset(&s, 0, sizeof s);
#pragma omp parallel for schedule(dynamic, 3)
  for (int k = 0; k < batches; ++k) {
    struct sums own = {0};
    fill(skip(271828183, (uint64_t)k * 2 * BATCH));
    tally(&own);
#pragma omp atomic
    s.x += own.x;
#pragma omp atomic
    s.y += own.y;
    for (int r = 0; r < RINGS; ++r) {
      if (!own.rings[r]) continue;
#pragma omp atomic
      s.rings[r] += own.rings[r];
    }
  }
  return s;
}

int main(int argc, char** argv) {
  const int batches = argc > 1 ? atoi(argv[1]) : 256;
  const double begun = omp_get_wtime();
  struct sums by_table[3] = {by_clauses(batches), by_critical(batches), by_atomics(batches)};
  const double parallel_time = omp_get_wtime() - begun;
  const struct sums expected = serial(batches);
  const char* names[3] = {"clauses", "critical", "atomics"};
  int good = 1;
  long accepted = 0;
  for (int i = 0; i < 3; ++i) good &= same(names[i], by_table[i], expected);
  for (int r = 0; r < RINGS; ++r) accepted += expected.rings[r];
  const double share = (double)accepted / batches / BATCH;
  good &= fabs(share - 0.785398) < 0.01;
  printf("ep: %d batches, %.4f accepted, %.3f s: %s\n", batches, share, parallel_time, good ? "verified" : "WRONG");
  return !good;
}
