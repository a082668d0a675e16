/* Large threadprivate tables: hash tables and polynomials of each thread, kept from region to region, filled from the
   initial thread's by copyin and spread by copyprivate, of C types and structures; thread-local variables beside them.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 14, WORDS = 1 << 15 };

struct slot {
  uint32_t key, count;
};
struct table {
  struct slot slots[SLOTS];
  int filled;
  char label[24];
};

static struct table table;
static double work[WORDS];
static int generation = 41;
static char* note;
#pragma omp threadprivate(table, work, generation, note)

static _Thread_local struct {
  long calls;
  unsigned char marks[100000];
} local;
static __thread int initialised = 17;

static uint32_t scattered(uint32_t x) {
  return (x * 2654435761u) ^ (x >> 15);
}

static void count_key(uint32_t key) {
  ++local.calls;
  for (uint32_t at = scattered(key) % SLOTS;; at = (at + 1) % SLOTS) {
    struct slot* s = &table.slots[at];
    if (s->count && s->key != key) continue;
    if (!s->count) ++table.filled;
    s->key = key;
    ++s->count;
    return;
  }
}

static uint32_t found(uint32_t key) {
  for (uint32_t at = scattered(key) % SLOTS; table.slots[at].count; at = (at + 1) % SLOTS)
    if (table.slots[at].key == key) return table.slots[at].count;
  return 0;
}

static int counting(int keys) {
  uint32_t* totals = calloc(1000, sizeof *totals);
  int filled = 0, wrong = 0;
#pragma omp parallel reduction(+ : filled)
  {
    memset(&table, 0, sizeof table);
    snprintf(table.label, sizeof table.label, "thread %d", omp_get_thread_num());
#pragma omp for schedule(static)
    for (int i = 0; i < keys; ++i) count_key(scattered((uint32_t)i) % 1000 * 3);
    filled += table.filled;
  }
#pragma omp parallel reduction(+ : wrong)
  {
    char expected[24];
    snprintf(expected, sizeof expected, "thread %d", omp_get_thread_num());
    wrong += strcmp(expected, table.label) != 0;
    for (int round = 0; round < omp_get_num_threads(); ++round) {
      const int slice = (omp_get_thread_num() + round) % omp_get_num_threads();
      const int from = 1000 * slice / omp_get_num_threads(), to = 1000 * (slice + 1) / omp_get_num_threads();
      for (int k = from; k < to; ++k) totals[k] += found((uint32_t)k * 3);
#pragma omp barrier
    }
  }
  uint32_t sum = 0;
  for (int k = 0; k < 1000; ++k) sum += totals[k];
  free(totals);
  return wrong + (sum != (uint32_t)keys) + (filled < 900);
}

static int copied_in(void) {
  int wrong = 0;
  for (int i = 0; i < WORDS; ++i) work[i] = i * 0.5;
  memset(&table, 0, sizeof table);
  strcpy(table.label, "from the first");
  table.filled = 99;
  generation = 7;
#pragma omp parallel copyin(work, table, generation) reduction(+ : wrong)
  {
    for (int i = 0; i < WORDS; ++i) wrong += work[i] != i * 0.5;
    wrong += strcmp(table.label, "from the first") != 0 || table.filled != 99 || generation != 7;
    work[5] = omp_get_thread_num();
    generation += omp_get_thread_num();
  }
#pragma omp parallel reduction(+ : wrong)
  wrong += work[5] != omp_get_thread_num() || generation != 7 + omp_get_thread_num() || work[6] != 3;
  return wrong;
}

static int spread(void) {
  int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
  {
    for (int round = 0; round < 3; ++round) {
      note = NULL;
      table.filled = -1;
#pragma omp single copyprivate(note, table)
      {
        note = malloc(32);
        snprintf(note, 32, "round %d", round);
        table.filled = round;
        table.slots[SLOTS - 1].key = 1000u + (unsigned)round;
      }
      char expected[32];
      snprintf(expected, sizeof expected, "round %d", round);
      wrong += note == NULL || strcmp(note, expected) != 0;
      wrong += table.filled != round || table.slots[SLOTS - 1].key != 1000u + (unsigned)round;
#pragma omp barrier
#pragma omp master
      free(note);
    }
  }
  return wrong;
}

static int locals(int rounds) {
  int wrong = 0;
  for (int r = 0; r < rounds; ++r) {
#pragma omp parallel reduction(+ : wrong)
    {
      const int me = omp_get_thread_num();
      wrong += initialised != 17 + r * (me + 1);
      initialised += me + 1;
      for (size_t i = (size_t)me; i < sizeof local.marks; i += 97) {
        wrong += local.marks[i] != (unsigned char)(r * (me + 1));
        local.marks[i] = (unsigned char)((r + 1) * (me + 1));
      }
    }
  }
  return wrong;
}

/* Polynomials with coefficients in the thread's table, multiplied by convolution. */
static int polynomials(int degree) {
  long *product = calloc((size_t)(2 * degree), sizeof *product), expected = 0, sum = 0;
#pragma omp parallel
  {
    memset(work, 0, sizeof work);
#pragma omp for schedule(static, 5)
    for (int i = 0; i < degree; ++i)
      for (int j = 0; j < degree; ++j) work[i + j] += (i % 7) * (double)(j % 5);
    for (int k = 0; k < 2 * degree; ++k) {
      if (work[k] == 0) continue;
#pragma omp critical(product)
      product[k] += (long)work[k];
    }
  }
  long left = 0, right = 0;
  for (int i = 0; i < degree; ++i) left += i % 7, right += i % 5;
  expected = left * right;
  for (int k = 0; k < 2 * degree; ++k) sum += product[k];
  free(product);
  return sum != expected;
}

int main(int argc, char** argv) {
  const int keys = argc > 1 ? atoi(argv[1]) : 40000;
  omp_set_dynamic(0);
  const double begun = omp_get_wtime();
  int wrong[5] = {counting(keys), copied_in(), spread(), locals(4), polynomials(60)}, sum = 0;
  for (int i = 0; i < 5; ++i) sum += wrong[i];
  printf("tables: %zu kB a thread, %d %d %d %d %d, %.3f s: %s\n", (sizeof table + sizeof work + sizeof local) / 1024,
         wrong[0], wrong[1], wrong[2], wrong[3], wrong[4], omp_get_wtime() - begun, sum ? "WRONG" : "verified");
  return sum != 0;
}
