/* Scans at work, as libraries of parallel primitives have them: a radix sort whose positions come from an exclusive
   scan, compaction, a run-length code, a segmented sum by a user-declared reduction over a struct, line-breaking of a
   text, a Kalman-like linear recurrence by a scan of affine maps; each against a serial loop. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bits = 4, digits = 1 << bits };

static int size, wrong;
static uint32_t state = 12345;

static uint32_t random_number(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

static void* array(int count, size_t bytes) {
  void* memory = calloc((size_t)count, bytes);
  if (memory == NULL) exit(3);
  return memory;
}

static void expect(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  printf("WRONG: %s\n", what);
}

typedef struct {
  uint32_t key;
  int origin;
} item;

/* One pass for each digit: each thread counts its own part, the columns are scanned, each thread moves its part. */
static void radix_sort(item* items) {
  item* other = array(size, sizeof *other);
  const int most = omp_get_max_threads();
  int* counts = array(most * digits, sizeof *counts);
  int* starts = array(most * digits, sizeof *starts);
  for (int shift = 0; shift < 32; shift += bits) {
    int team = 0;
#pragma omp parallel
    {
      const int me = omp_get_thread_num();
      const int members = omp_get_num_threads();
      const int begin = (int)((long)size * me / members), end = (int)((long)size * (me + 1) / members);
      int own[digits] = {0};
      for (int i = begin; i < end; ++i) ++own[items[i].key >> shift & (digits - 1)];
      for (int d = 0; d < digits; ++d) counts[d * members + me] = own[d];
#pragma omp single
      team = members;
      int sum = 0;
#pragma omp single copyprivate(sum)
      {
        sum = 0;
        for (int k = 0; k < digits * team; ++k) {
          starts[k] = sum;
          sum += counts[k];
        }
      }
      for (int d = 0; d < digits; ++d) own[d] = starts[d * members + me];
      for (int i = begin; i < end; ++i) other[own[items[i].key >> shift & (digits - 1)]++] = items[i];
#pragma omp barrier
#pragma omp for
      for (int i = 0; i < size; ++i) items[i] = other[i];
      if (sum != size) {
#pragma omp atomic
        ++wrong;
      }
    }
  }
  free(starts);
  free(counts);
  free(other);
}

static void sort_and_check(void) {
  item* items = array(size, sizeof *items);
  for (int i = 0; i < size; ++i) items[i] = (item){random_number() % (uint32_t)(3 * size) * 40503u, i};
  radix_sort(items);
  int disorder = 0;
  char* met = array(size, 1);
#pragma omp parallel for reduction(+ : disorder)
  for (int i = 1; i < size; ++i)
    disorder +=
        items[i - 1].key > items[i].key || (items[i - 1].key == items[i].key && items[i - 1].origin > items[i].origin);
  for (int i = 0; i < size; ++i) met[items[i].origin] = 1;
  expect(disorder == 0, "order of sorted items");
  expect(memchr(met, 0, (size_t)size) == NULL, "an item is lost");
  free(met);
  free(items);
}

/* Those that are wanted, close together and in their order; then each run of equal ones as (value, length). */
static void compact_and_encode(void) {
  int* values = array(size, sizeof *values);
  int* kept = array(size, sizeof *kept);
  int* run_value = array(size, sizeof *run_value);
  int* run_start = array(size + 1, sizeof *run_start);
  for (int i = 0; i < size; ++i) values[i] = (int)(random_number() % 7);
  int count = 0, runs = 0;
#pragma omp parallel
  {
#pragma omp for reduction(inscan, + : count)
    for (int i = 0; i < size; ++i) {
      if (values[i] > 2) kept[count] = values[i];
#pragma omp scan exclusive(count)
      count += values[i] > 2;
    }
#pragma omp for reduction(inscan, + : runs)
    for (int i = 0; i < count; ++i) {
      runs += i == 0 || kept[i] != kept[i - 1];
#pragma omp scan inclusive(runs)
      if (i == 0 || kept[i] != kept[i - 1]) {
        run_value[runs - 1] = kept[i];
        run_start[runs - 1] = i;
      }
    }
  }
  run_start[runs] = count;
  int next = 0, bad = 0;
  for (int i = 0; i < size; ++i)
    if (values[i] > 2) bad += kept[next++] != values[i];
  expect(next == count && bad == 0, "compaction");
  for (int r = 0; r < runs; ++r) {
    bad += r > 0 && run_value[r] == run_value[r - 1];
    for (int i = run_start[r]; i < run_start[r + 1]; ++i) bad += kept[i] != run_value[r];
  }
  expect(bad == 0, "run-length code");
  free(run_start);
  free(run_value);
  free(kept);
  free(values);
}

/* x[i] = a[i] * x[i - 1] + b[i] modulo 2^32, by composing maps from the left; and sums that start again at marks. */
typedef struct {
  uint32_t factor, summand;
} map;
typedef struct {
  long sum;
  int starts;
} segment;

static void compose(map* first, const map* then) {
  *first = (map){first->factor * then->factor, first->summand * then->factor + then->summand};
}
static void join(segment* left, const segment* right) {
  *left = (segment){right->starts ? right->sum : left->sum + right->sum, left->starts | right->starts};
}
#pragma omp declare reduction(then:map : compose(&omp_out, &omp_in)) initializer(omp_priv = (map){1, 0})
#pragma omp declare reduction(segments:segment : join(&omp_out, &omp_in)) initializer(omp_priv = (segment){0, 0})

static void recur(void) {
  uint32_t* x = array(size, sizeof *x);
  map* maps = array(size, sizeof *maps);
  segment* parts = array(size, sizeof *parts);
  long* sums = array(size, sizeof *sums);
  for (int i = 0; i < size; ++i) {
    maps[i] = (map){random_number() | 1, random_number()};
    parts[i] = (segment){(long)(random_number() % 1000) - 500, random_number() % 9 == 0};
  }
  map all = {1, 0};
  segment open = {0, 0};
#pragma omp parallel for reduction(inscan, then : all)
  for (int i = 0; i < size; ++i) {
    compose(&all, &maps[i]);
#pragma omp scan inclusive(all)
    x[i] = all.factor * 77u + all.summand;
  }
#pragma omp parallel for reduction(inscan, segments : open)
  for (int i = 0; i < size; ++i) {
    join(&open, &parts[i]);
#pragma omp scan inclusive(open)
    sums[i] = open.sum;
  }
  uint32_t value = 77;
  long sum = 0;
  int bad_x = 0, bad_sums = 0;
  for (int i = 0; i < size; ++i) {
    value = maps[i].factor * value + maps[i].summand;
    sum = parts[i].starts ? parts[i].sum : sum + parts[i].sum;
    bad_x += x[i] != value;
    bad_sums += sums[i] != sum;
  }
  expect(bad_x == 0, "linear recurrence");
  expect(bad_sums == 0 && open.sum == sum, "segmented sums");
  free(sums);
  free(parts);
  free(maps);
  free(x);
}

static int begins_word(const char* text, int i) {
  return text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
}

/* The latest start of a word before each character, by a scan for the maximum; then lines of at most `width`. */
static void wrap_text(int width) {
  char* text = array(size + 1, 1);
  int* start = array(size, sizeof *start);
  for (int i = 0; i < size; ++i) text[i] = random_number() % 5 == 0 ? ' ' : (char)('a' + random_number() % 26);
  int latest = -1, words = 0;
#pragma omp parallel for simd reduction(inscan, max : latest)
  for (int i = 0; i < size; ++i) {
    latest = begins_word(text, i) && i > latest ? i : latest;
#pragma omp scan inclusive(latest)
    start[i] = latest;
  }
  int last = -1, bad = 0, serial_words = 0;
#pragma omp parallel for reduction(+ : words)
  for (int i = 0; i < size; ++i) words += start[i] == i;
  for (int i = 0; i < size; ++i) {
    if (begins_word(text, i)) {
      last = i;
      ++serial_words;
    }
    bad += start[i] != last;
  }
  expect(bad == 0 && words == serial_words, "starts of words");
  int lines = 0;
  for (int at = 0; at < size; ++lines) {
    int end = at + width;
    if (end < size && text[end] != ' ' && start[end] > at) end = start[end];
    at = end;
  }
  expect(lines >= size / width, "lines of a text");
  free(start);
  free(text);
}

int main(int argc, char** argv) {
  size = argc > 1 ? atoi(argv[1]) : 20000;
  sort_and_check();
  compact_and_encode();
  recur();
  wrap_text(60);
  if (wrong == 0) printf("%d items: verified\n", size);
  return wrong != 0;
}
