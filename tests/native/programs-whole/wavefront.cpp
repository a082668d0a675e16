// Loops whose iterations wait for others, in every way OpenMP has: Smith and Waterman's alignment by doacross
// (`ordered(2)` with sink and source) and by tasks with depend over blocks; Gauss and Seidel by doacross with a stride;
// Floyd and Warshall; Cholesky in tiles by tasks with depend iterators; a pipeline of sections by flags; ordered output
// of a loop with `schedule(runtime)`; a cancelled loop; teams of different sizes, nested ones, and arrays of variable
// length on the stack of the thread that starts a region.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

bool check(const char* what, bool right) {
  if (!right) std::printf("WRONG: %s\n", what);
  return right;
}

template <typename T>
class Matrix {
 public:
  Matrix(int rows, int columns, T value = T())
      : columns_(columns), data_(static_cast<std::size_t>(rows) * columns, value) {}
  T* operator[](int row) { return data_.data() + static_cast<std::size_t>(row) * columns_; }
  const T* operator[](int row) const { return data_.data() + static_cast<std::size_t>(row) * columns_; }
  bool operator==(const Matrix&) const = default;

 private:
  int columns_;
  std::vector<T> data_;
};

std::string sequence(int length, unsigned seed) {
  std::string s;
  for (int i = 0; i < length; ++i) s += "ACGT"[(seed = seed * 1103515245 + 12345) >> 20 & 3];
  return s;
}

int score(const Matrix<int>& h, const std::string& a, const std::string& b, int i, int j) {
  return std::max({0, h[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 3 : -2), h[i - 1][j] - 1, h[i][j - 1] - 1});
}

bool align(int n, int m) {
  const std::string a = sequence(n, 1), b = sequence(m, 2);
  Matrix<int> expected(n + 1, m + 1), doacross(n + 1, m + 1), tasks(n + 1, m + 1);
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= m; ++j) expected[i][j] = score(expected, a, b, i, j);

  constexpr int tile = 8;
  const int down = (n + tile - 1) / tile, across = (m + tile - 1) / tile;
#pragma omp parallel for schedule(static, 1) ordered(2)
  for (int bi = 0; bi < down; ++bi)
    for (int bj = 0; bj < across; ++bj) {
#pragma omp ordered depend(sink : bi - 1, bj) depend(sink : bi, bj - 1)
      for (int i = bi * tile + 1; i <= std::min(n, (bi + 1) * tile); ++i)
        for (int j = bj * tile + 1; j <= std::min(m, (bj + 1) * tile); ++j)
          doacross[i][j] = score(doacross, a, b, i, j);
#pragma omp ordered depend(source)
    }

  const auto done = std::make_unique<char[]>((down + 1) * (across + 1));
  [[maybe_unused]] char* const flags = done.get();
  const int line = across + 1;
#pragma omp parallel
#pragma omp single
  for (int bi = 0; bi < down; ++bi)
    for (int bj = 0; bj < across; ++bj)
#pragma omp task depend(in                                                        \
                        : flags[bi * line + bj + 1], flags[(bi + 1) * line + bj]) \
    depend(out                                                                    \
           : flags[(bi + 1) * line + bj + 1]) firstprivate(bi, bj)
      for (int i = bi * tile + 1; i <= std::min(n, (bi + 1) * tile); ++i)
        for (int j = bj * tile + 1; j <= std::min(m, (bj + 1) * tile); ++j) tasks[i][j] = score(tasks, a, b, i, j);
  return check("alignment by doacross", doacross == expected) & check("alignment by tasks", tasks == expected);
}

// Each point takes the new values of those before it; two sweeps overlap, as the third loop is the sweep.
bool gauss_seidel(int n, int sweeps) {
  Matrix<double> grid(n, n), expected(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) grid[i][j] = expected[i][j] = std::sin(i * 0.7) * j;
  const auto relax = [n](Matrix<double>& g, int i) {
    for (int j = 1; j < n - 1; ++j) g[i][j] = 0.25 * (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1]);
  };
  for (int s = 0; s < sweeps; ++s)
    for (int i = 1; i < n - 1; ++i) relax(expected, i);
#pragma omp parallel
  {
    // Of sweeps: row i of sweep s after row i + 1 of sweep s - 1.
#pragma omp for ordered(2) schedule(dynamic, 1) nowait
    for (int s = 0; s < sweeps; ++s)
      for (int i = 1; i < n - 1; i += 1) {
#pragma omp ordered depend(sink : s - 1, i + 1) depend(sink : s, i - 1)
        relax(grid, i);
#pragma omp ordered depend(source)
      }
  }
  return check("Gauss-Seidel", grid == expected);
}

bool shortest(int n) {
  Matrix<float> d(n, n), expected(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      d[i][j] = expected[i][j] = i == j ? 0.0F : static_cast<float>((i * 37 + j * 91) % 101 + 1);
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) expected[i][j] = std::min(expected[i][j], expected[i][k] + expected[k][j]);
#pragma omp parallel
  for (int k = 0; k < n; ++k) {
    // The row of k does not change in step k; a copy of it on each thread's stack, of a length that is known only here.
    float row[n];
    std::memcpy(row, d[k], sizeof row);
#pragma omp for schedule(static)
    for (int i = 0; i < n; ++i) {
      const float via = d[i][k];
      float* const mine = d[i];
#pragma omp simd
      for (int j = 0; j < n; ++j) mine[j] = std::min(mine[j], via + row[j]);
    }
  }
  return check("Floyd-Warshall", d == expected);
}

using Tile = std::vector<double>;

void factor(Tile& t, int b) {
  for (int k = 0; k < b; ++k) {
    t[k * b + k] = std::sqrt(t[k * b + k]);
    for (int i = k + 1; i < b; ++i) t[i * b + k] /= t[k * b + k];
    for (int j = k + 1; j < b; ++j)
      for (int i = j; i < b; ++i) t[i * b + j] -= t[i * b + k] * t[j * b + k];
  }
}

void solve(const Tile& l, Tile& t, int b) {
  for (int r = 0; r < b; ++r)
    for (int c = 0; c < b; ++c) {
      for (int k = 0; k < c; ++k) t[r * b + c] -= t[r * b + k] * l[c * b + k];
      t[r * b + c] /= l[c * b + c];
    }
}

void update(const Tile& x, const Tile& y, Tile& t, int b) {
  for (int r = 0; r < b; ++r)
    for (int c = 0; c < b; ++c)
      for (int k = 0; k < b; ++k) t[r * b + c] -= x[r * b + k] * y[c * b + k];
}

bool cholesky(int tiles, int b) {
  std::vector<Tile> a(tiles * tiles, Tile(b * b));
  const int n = tiles * b;
  const auto value = [n](int i, int j) { return i == j ? n + 1.0 : 1.0 / (1 + std::abs(i - j)); };
  Tile* const at = a.data();
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop collapse(2) grainsize(2)
    for (int i = 0; i < tiles; ++i)
      for (int j = 0; j < tiles; ++j)
        for (int r = 0; r < b; ++r)
          for (int c = 0; c < b; ++c) at[i * tiles + j][r * b + c] = value(i * b + r, j * b + c);
#pragma omp taskgroup
    for (int k = 0; k < tiles; ++k) {
#pragma omp task depend(inout : at[k * tiles + k]) priority(10)
      factor(at[k * tiles + k], b);
      for (int i = k + 1; i < tiles; ++i)
#pragma omp task depend(in : at[k * tiles + k]) depend(inout : at[i * tiles + k])
        solve(at[k * tiles + k], at[i * tiles + k], b);
      for (int i = k + 1; i < tiles; ++i)
        for (int j = k + 1; j <= i; ++j)
#pragma omp task depend(in : at[i * tiles + k], at[j * tiles + k]) depend(inout : at[i * tiles + j])
          update(at[i * tiles + k], at[j * tiles + k], at[i * tiles + j], b);
    }
    // A task that waits for the whole diagonal.
    double trace = 0;
#pragma omp task depend(iterator(int k = 0 : tiles), in : at[k * tiles + k]) shared(trace)
    for (int k = 0; k < n; ++k) trace += at[k / b * tiles + k / b][k % b * b + k % b];
#pragma omp taskwait
    if (!(trace > n)) std::abort();
  }
  const auto l = [&](int i, int j) { return a[i / b * tiles + j / b][i % b * b + j % b]; };
  double error = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : error) collapse(2)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k <= std::min(i, j); ++k) s += l(i, k) * l(j, k);
      error = std::max(error, std::fabs(s - value(i, j)));
    }
  return check("Cholesky", error < 1e-9);
}

// Three stages in sections, one item each handed on by a flag; with fewer threads the stages come one after another.
bool sections(int items) {
  std::vector<long> first(items), second(items), third(items);
  std::vector<char> made(items), squared(items);
#pragma omp parallel sections num_threads(std::min(3, omp_get_max_threads()))
  {
#pragma omp section
    for (int i = 0; i < items; ++i) {
      first[i] = i + 3;
#pragma omp atomic write release
      made[i] = 1;
    }
#pragma omp section
    for (int i = 0; i < items; ++i) {
      char ready = 0;
      while (!ready) {
#pragma omp atomic read acquire
        ready = made[i];
      }
      second[i] = first[i] * first[i];
#pragma omp atomic write release
      squared[i] = 1;
    }
#pragma omp section
    for (int i = 0; i < items; ++i) {
      char ready = 0;
      while (!ready) {
#pragma omp atomic read acquire
        ready = squared[i];
      }
      third[i] = second[i] + (i ? third[i - 1] : 0);
    }
  }
  long expected = 0;
  for (long i = 0; i < items; ++i) expected += (i + 3) * (i + 3);
  return check("sections", third.back() == expected);
}

bool in_order(int n) {
  std::ostringstream text, expected;
  for (int i = n; i > 0; i -= 3) expected << i << ';';
  for (const auto kind : {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto}) {
    omp_set_schedule(kind, 2);
    text.str("");
#pragma omp parallel for ordered schedule(runtime)
    for (int i = n; i > 0; i -= 3) {
      const std::string own = std::to_string(i);
#pragma omp ordered
      text << own << ';';
    }
    if (!check("ordered", text.str() == expected.str())) return false;
  }
  return true;
}

// Cancelled or, where OMP_CANCELLATION is off, run to its end: the item is found either way.
bool cancelled(int n) {
  int where = -1, visited = 0;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 4) reduction(+ : visited)
    for (int i = 0; i < n; ++i) {
      ++visited;
      if (i * 7 % n == 5) {
#pragma omp atomic write
        where = i;
#pragma omp cancel for
      }
#pragma omp cancellation point for
    }
  }
  return check("cancelled", where >= 0 && where * 7 % n == 5 && (omp_get_cancellation() || visited == n));
}

// A triangle of teams: each region has another size, on arrays that lie on the initial thread's stack.
bool teams(int rounds) {
  const int most = omp_get_max_threads();
  bool right = true;
  for (int size = 1; size <= most; ++size) {
    const int n = size * 37;
    long counts[size], values[n];
    std::fill(counts, counts + size, 0);
    for (int r = 0; r < rounds; ++r)
#pragma omp parallel num_threads(size)
    {
#pragma omp for
      for (int i = 0; i < n; ++i) values[i] = i + r;
#pragma omp for schedule(static, 3)
      for (int i = 0; i < n; ++i) counts[omp_get_thread_num()] += values[n - 1 - i];
        // One inside another is a team of one, or more where nesting is on.
#pragma omp parallel num_threads(std::min(2, most)) shared(counts)
      if (omp_get_level() != 2) {
#pragma omp atomic
        counts[0] += 1000000;
      }
    }
    long sum = 0;
    for (int i = 0; i < size; ++i) sum += counts[i];
    right &= sum == static_cast<long>(rounds) * n * (n - 1) / 2 + static_cast<long>(n) * rounds * (rounds - 1) / 2;
  }
  return check("teams", right);
}

}  // namespace

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 48;
  bool right = align(size, size + 21);
  right &= gauss_seidel(size / 2, 5);
  right &= shortest(size);
  right &= cholesky(5, 8);
  right &= sections(size / 2);
  right &= in_order(size);
  right &= cancelled(size * 2 + 1);
  right &= teams(3);
  if (right) std::puts("verified");
  return !right;
}
