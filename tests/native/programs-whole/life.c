/* Cellular automata on bytes and bits, where neighbours on a page belong to different threads: the game of life in
   chars, in packed words and in nested loops over tiles; rule 110 with bit fields; sand piles by short integers. */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wide, high;

static unsigned char* cells[2];
static uint64_t* packed[2];
static int words;

static unsigned char at(const unsigned char* c, int i, int j) {
  return c[(i + high) % high * wide + (j + wide) % wide];
}

static int around(const unsigned char* c, int i, int j) {
  int sum = 0;
  for (int di = -1; di <= 1; ++di)
    for (int dj = -1; dj <= 1; ++dj)
      if (di || dj) sum += at(c, i + di, j + dj);
  return sum;
}

static unsigned char rule(int alive, int neighbours) {
  return neighbours == 3 || (alive && neighbours == 2);
}

static void seed(unsigned char* c) {
  uint32_t state = 99;
  for (int k = 0; k < wide * high; ++k) {
    state = state * 1664525u + 1013904223u;
    c[k] = state >> 30 == 0;
  }
}

static void serial(unsigned char* now, int generations) {
  unsigned char* next = malloc((size_t)(wide * high));
  for (int g = 0; g < generations; ++g) {
    for (int i = 0; i < high; ++i)
      for (int j = 0; j < wide; ++j) next[i * wide + j] = rule(at(now, i, j), around(now, i, j));
    memcpy(now, next, (size_t)(wide * high));
  }
  free(next);
}

/* Columns cyclically: each byte beside another thread's. */
static void by_columns(int generations) {
#pragma omp parallel
  for (int g = 0; g < generations; ++g) {
    const unsigned char* now = cells[g & 1];
    unsigned char* next = cells[~g & 1];
#pragma omp for schedule(static, 1)
    for (int j = 0; j < wide; ++j)
      for (int i = 0; i < high; ++i) next[i * wide + j] = rule(at(now, i, j), around(now, i, j));
  }
}

/* Tiles, taken at run-time; the schedule comes from outside. */
static void by_tiles(int generations) {
  enum { TILE = 16 };
  omp_set_schedule(omp_sched_dynamic, 1);
#pragma omp parallel
  for (int g = 0; g < generations; ++g) {
#pragma omp for collapse(2) schedule(runtime)
    for (int ti = 0; ti < high; ti += TILE)
      for (int tj = 0; tj < wide; tj += TILE)
        for (int i = ti; i < ti + TILE && i < high; ++i)
          for (int j = tj; j < tj + TILE && j < wide; ++j)
            cells[~g & 1][i * wide + j] = rule(at(cells[g & 1], i, j), around(cells[g & 1], i, j));
  }
}

static int bit(const uint64_t* p, int i, int j) {
  i = (i + high) % high;
  j = (j + wide) % wide;
  return (int)(p[i * words + j / 64] >> j % 64 & 1);
}

/* Several threads set bits of one word. */
static void by_bits(int generations) {
#pragma omp parallel
  for (int g = 0; g < generations; ++g) {
    const uint64_t* now = packed[g & 1];
    uint64_t* next = packed[~g & 1];
#pragma omp for
    for (int k = 0; k < high * words; ++k) next[k] = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < high; ++i)
      for (int w = 0; w < words; ++w) {
        uint64_t whole = 0;
        for (int j = w * 64; j < wide && j < w * 64 + 64; ++j) {
          int sum = 0;
          for (int k = 0; k < 9; ++k)
            if (k != 4) sum += bit(now, i + k / 3 - 1, j + k % 3 - 1);
          if (rule(bit(now, i, j), sum)) whole |= UINT64_C(1) << j % 64;
        }
        if (g % 4 != 3 || i % 8) {
          next[i * words + w] = whole;
        } else { /* bit by bit */
          for (int j = 0; j < 64; ++j)
            if (whole >> j & 1) {
#pragma omp atomic
              next[i * words + w] |= UINT64_C(1) << j;
            }
        }
      }
  }
}

struct flags {
  unsigned now : 1, next : 1, pad : 6;
};

static int rule110_wrong(int length, int steps) {
  struct flags* line = calloc((size_t)length, sizeof *line);
  unsigned char* plain = calloc((size_t)(2 * length), 1);
  line[length / 2].now = plain[length / 2] = 1;
#pragma omp parallel
  for (int s = 0; s < steps; ++s) {
#pragma omp for schedule(static, 3)
    for (int i = 0; i < length; ++i) {
      const unsigned pattern = line[(i + length - 1) % length].now * 4u + line[i].now * 2u + line[(i + 1) % length].now;
      line[i].next = 110u >> pattern & 1;
    }
#pragma omp for schedule(static, 3)
    for (int i = 0; i < length; ++i) line[i].now = line[i].next;
  }
  for (int s = 0; s < steps; ++s) {
    unsigned char *from = plain + (s & 1) * length, *to = plain + (~s & 1) * length;
    for (int i = 0; i < length; ++i)
      to[i] = 110 >> (from[(i + length - 1) % length] * 4 + from[i] * 2 + from[(i + 1) % length]) & 1;
  }
  int wrong = 0;
  for (int i = 0; i < length; ++i) wrong += line[i].now != plain[(steps & 1) * length + i];
  free(line), free(plain);
  return wrong;
}

/* Piles of more than three topple; the order does not matter, so the end is one. */
static int sand_wrong(int n, int grains) {
  uint16_t *pile = calloc((size_t)(n * n), sizeof *pile), *next = calloc((size_t)(n * n), sizeof *next);
  long* plain = calloc((size_t)(n * n), sizeof *plain);
  pile[n / 2 * n + n / 2] = (uint16_t)grains;
  plain[n / 2 * n + n / 2] = grains;
  bool moves;
  do {
    moves = false;
#pragma omp parallel
    {
#pragma omp for collapse(2) reduction(|| : moves)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          int here = pile[i * n + j] % 4;
          if (i) here += pile[(i - 1) * n + j] / 4;
          if (j) here += pile[i * n + j - 1] / 4;
          if (i < n - 1) here += pile[(i + 1) * n + j] / 4;
          if (j < n - 1) here += pile[i * n + j + 1] / 4;
          next[i * n + j] = (uint16_t)here;
          moves = moves || here > 3;
        }
#pragma omp single
      {
        uint16_t* swap = pile;
        pile = next;
        next = swap;
      }
    }
  } while (moves);
  for (bool more = true; more;) {
    more = false;
    for (int k = 0; k < n * n; ++k) {
      if (plain[k] < 4) continue;
      const long fall = plain[k] / 4;
      plain[k] %= 4;
      more = true;
      if (k >= n) plain[k - n] += fall;
      if (k < n * n - n) plain[k + n] += fall;
      if (k % n) plain[k - 1] += fall;
      if (k % n < n - 1) plain[k + 1] += fall;
    }
  }
  int wrong = 0;
  for (int k = 0; k < n * n; ++k) wrong += plain[k] != pile[k];
  free(pile), free(next), free(plain);
  return wrong;
}

int main(int argc, char** argv) {
  wide = argc > 1 ? atoi(argv[1]) : 100;
  high = argc > 2 ? atoi(argv[2]) : 61;
  const int generations = argc > 3 ? atoi(argv[3]) : 10;
  words = (wide + 63) / 64;
  const size_t bytes = (size_t)(wide * high);
  unsigned char* expected = malloc(bytes);
  for (int k = 0; k < 2; ++k) {
    cells[k] = malloc(bytes);
    packed[k] = calloc((size_t)(words * high), sizeof **packed);
  }
  seed(expected);
  serial(expected, generations);
  const double begun = omp_get_wtime();
  seed(cells[0]);
  by_columns(generations);
  int wrong = memcmp(cells[generations & 1], expected, bytes) != 0;
  seed(cells[0]);
  by_tiles(generations);
  wrong += 2 * (memcmp(cells[generations & 1], expected, bytes) != 0);
  seed(cells[0]);
  for (int k = 0; k < wide * high; ++k)
    packed[0][k / wide * words + k % wide / 64] |= (uint64_t)cells[0][k] << k % wide % 64;
  by_bits(generations);
  for (int i = 0; i < high; ++i)
    for (int j = 0; j < wide; ++j)
      if (bit(packed[generations & 1], i, j) != expected[i * wide + j]) wrong |= 4;
  if (rule110_wrong(500, 40)) wrong |= 8;
  if (sand_wrong(21, 600)) wrong |= 16;
  int alive = 0;
  for (size_t k = 0; k < bytes; ++k) alive += expected[k];
  printf("life: %d of %zu alive, %.3f s: %s (%d)\n", alive, bytes, omp_get_wtime() - begun,
         wrong ? "WRONG" : "verified", wrong);
  return wrong != 0;
}
