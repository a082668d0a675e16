/* SSOR in a pipeline, as NAS LU: each thread has rows of a grid and waits for its neighbour's flag at every plane. The
   same by volatile flags with flush, by acquire and release, and by locks handed on. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 32, MOST = 256 };

static int n, planes;
static double *grid, *reference, *right;

#define AT(g, k, i, j) ((g)[((k) * (n + 2) + (i)) * (n + 2) + (j)])

static void start(double* g) {
  for (int k = 0; k < planes + 2; ++k)
    for (int i = 0; i < n + 2; ++i)
      for (int j = 0; j < n + 2; ++j) {
        AT(g, k, i, j) = sin(0.1 * i + 0.2 * j) + 0.01 * k;
        AT(right, k, i, j) = cos(0.3 * i) * 0.1 * j / n;
      }
}

static void lower(double* g, int k, int from, int to) {
  for (int i = from; i < to; ++i)
    for (int j = 1; j <= n; ++j)
      AT(g, k, i, j) =
          0.25 * (AT(g, k, i, j) + AT(g, k - 1, i, j) + AT(g, k, i - 1, j) + AT(g, k, i, j - 1)) + AT(right, k, i, j);
}

static void upper(double* g, int k, int from, int to) {
  for (int i = to - 1; i >= from; --i)
    for (int j = n; j >= 1; --j)
      AT(g, k, i, j) = 0.25 * (AT(g, k, i, j) + AT(g, k + 1, i, j) + AT(g, k, i + 1, j) + AT(g, k, i, j + 1)) -
                       0.5 * AT(right, k, i, j);
}

static void share(int* from, int* to) {
  const int me = omp_get_thread_num(), team = omp_get_num_threads();
  *from = 1 + n * me / team;
  *to = 1 + n * (me + 1) / team;
}

static volatile int reached[MOST][PAD];

static void wait_plainly(int who, int plane) {
  while (reached[who][0] < plane) {
#pragma omp flush
  }
#pragma omp flush
}

static void tell_plainly(int who, int plane) {
#pragma omp flush
  reached[who][0] = plane;
#pragma omp flush
}

static void by_flush(int sweeps) {
#pragma omp parallel
  {
    int from, to;
    share(&from, &to);
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
    for (int s = 0; s < sweeps; ++s) {
      for (int k = 1; k <= planes; ++k) {
        if (me > 0) wait_plainly(me - 1, 2 * s * planes + k);
        lower(grid, k, from, to);
        tell_plainly(me, 2 * s * planes + k);
      }
#pragma omp barrier
      for (int k = planes; k >= 1; --k) {
        const int turn = (2 * s + 1) * planes + planes + 1 - k;
        if (me < team - 1) wait_plainly(me + 1, turn);
        upper(grid, k, from, to);
        tell_plainly(me, turn);
      }
#pragma omp barrier
    }
  }
}

static int turns[MOST][PAD];

static void wait_for(int who, int plane) {
  while (__atomic_load_n(&turns[who][0], __ATOMIC_ACQUIRE) < plane) continue;
}

static void by_acquire(int sweeps) {
#pragma omp parallel
  {
    int from, to;
    share(&from, &to);
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
    for (int s = 0; s < sweeps; ++s) {
      for (int k = 1; k <= planes; ++k) {
        const int turn = 2 * s * planes + k;
        if (me > 0) wait_for(me - 1, turn);
        lower(grid, k, from, to);
        __atomic_store_n(&turns[me][0], turn, __ATOMIC_RELEASE);
      }
#pragma omp barrier
      for (int k = planes; k >= 1; --k) {
        const int turn = (2 * s + 1) * planes + planes + 1 - k;
        if (me < team - 1) wait_for(me + 1, turn);
        upper(grid, k, from, to);
        __atomic_store_n(&turns[me][0], turn, __ATOMIC_RELEASE);
      }
#pragma omp barrier
    }
  }
}

static int progress[MOST];

static void by_atomic(int sweeps) {
  memset(progress, 0, sizeof progress);
#pragma omp parallel
  {
    int from, to;
    share(&from, &to);
    const int me = omp_get_thread_num(), team = omp_get_num_threads();
    for (int s = 0; s < sweeps; ++s) {
      for (int turn = 2 * s * planes + 1; turn <= 2 * (s + 1) * planes; ++turn) {
        const int k = turn - 2 * s * planes, up = k > planes;
        if (k == planes + 1) {
#pragma omp barrier
        }
        const int before = up ? me + 1 : me - 1;
        if (before >= 0 && before < team) {
          int seen;
          do {
#pragma omp atomic read acquire
            seen = progress[before];
          } while (seen < turn);
        }
        if (up)
          upper(grid, 2 * planes + 1 - k, from, to);
        else
          lower(grid, k, from, to);
#pragma omp atomic update release
        ++progress[me];
      }
#pragma omp barrier
    }
  }
}

static int compared(const char* what) {
  const size_t count = (size_t)(planes + 2) * (size_t)(n + 2) * (size_t)(n + 2);
  for (size_t i = 0; i < count; ++i)
    if (grid[i] != reference[i]) {
      fprintf(stderr, "%s: element %zu is %.17g, not %.17g\n", what, i, grid[i], reference[i]);
      return 1;
    }
  return 0;
}

int main(int argc, char** argv) {
  n = argc > 1 ? atoi(argv[1]) : 40;
  planes = argc > 2 ? atoi(argv[2]) : 8;
  const int sweeps = argc > 3 ? atoi(argv[3]) : 2;
  const char* which = argc > 4 ? argv[4] : "fra";
  const size_t bytes = (size_t)(planes + 2) * (size_t)(n + 2) * (size_t)(n + 2) * sizeof(double);
  grid = malloc(bytes);
  reference = malloc(bytes);
  right = malloc(bytes);
  start(reference);
  for (int s = 0; s < sweeps; ++s) {
    for (int k = 1; k <= planes; ++k) lower(reference, k, 1, n + 1);
    for (int k = planes; k >= 1; --k) upper(reference, k, 1, n + 1);
  }
  int wrong = 0;
  for (; *which; ++which) {
    start(grid);
    const double begun = omp_get_wtime();
    if (*which == 'f') by_flush(sweeps);
    if (*which == 'r') by_acquire(sweeps);
    if (*which == 'a') by_atomic(sweeps);
    printf("lu by %c: %.3f s\n", *which, omp_get_wtime() - begun);
    wrong += compared(*which == 'f' ? "flush" : *which == 'r' ? "acquire" : "atomic");
  }
  puts(wrong ? "lu: WRONG" : "lu: verified");
  return wrong != 0;
}
