/* All shortest paths of a graph (Floyd, Warshall) by blocks, which are tasks that depend on blocks: first the one on
   the diagonal, then its row and column, then the others. Against the plain triple loop. */
#include <stdio.h>
#include <string.h>

enum { nodes = 192, block = 32, blocks = nodes / block, no_edge = 1000000 };

static int distance[nodes][nodes], serial[nodes][nodes];
static char state[blocks][blocks]; /* nothing but what tasks depend on */

static void make_graph(void) {
  unsigned random = 3;
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) {
      random = random * 1664525u + 1013904223u;
      const int length = (random >> 9) % 100 < 8 ? 1 + (int)((random >> 20) % 100) : no_edge;
      distance[i][j] = serial[i][j] = i == j ? 0 : length;
    }
  }
}

/* Ways of a block's rows to its columns by way of `count` nodes. */
static void shorten(int table[nodes][nodes], int row, int column, int by, int count) {
  for (int k = by; k < by + count; ++k)
    for (int i = row; i < row + count; ++i)
      for (int j = column; j < column + count; ++j)
        if (table[i][k] + table[k][j] < table[i][j]) table[i][j] = table[i][k] + table[k][j];
}

/* Row and column of block `k`. */
static void shorten_cross(int k) {
  for (int j = 0; j < blocks; ++j) {
    if (j == k) continue;
#pragma omp task depend(in : state[k][k]) depend(inout : state[k][j])
    shorten(distance, k * block, j * block, k * block, block);
#pragma omp task depend(in : state[k][k]) depend(inout : state[j][k])
    shorten(distance, j * block, k * block, k * block, block);
  }
}

static void shorten_others(int k) {
  for (int i = 0; i < blocks; ++i) {
    for (int j = 0; j < blocks; ++j) {
      if (i == k || j == k) continue;
#pragma omp task depend(in : state[i][k], state[k][j]) depend(inout : state[i][j])
      shorten(distance, i * block, j * block, k * block, block);
    }
  }
}

int main(void) {
  make_graph();
  shorten(serial, 0, 0, 0, nodes);
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < blocks; ++k) {
#pragma omp task depend(inout : state[k][k])
    shorten(distance, k * block, k * block, k * block, block);
    shorten_cross(k);
    shorten_others(k);
  }
  long sum = 0;
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j < nodes; ++j) sum += distance[i][j];
  const int is_right = memcmp(distance, serial, sizeof distance) == 0;
  printf("%s: sum of distances %ld\n", is_right ? "verified" : "WRONG", sum);
  return !is_right;
}
