// Algebraic multigrid in the style of AMG and miniFE: a stiffness matrix assembled from elements into compressed rows
// by atomics and by maps of each thread, aggregation by locks, Galerkin's product by a hash map for each row, levels
// allocated one inside another, smoothers (Jacobi, and Gauss-Seidel by colours), the coarsest solved densely by one
// thread, conjugate gradients around it with a reduction over a class. One thread's results are the reference.
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using Vector = std::vector<double>;

struct Matrix {
  int rows = 0, columns = 0;
  std::vector<int> first, column;
  Vector value;

  void multiply(const Vector& x, Vector& y) const {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < rows; ++i) {
      double s = 0;
      for (int k = first[i]; k < first[i + 1]; ++k) s += value[k] * x[column[k]];
      y[i] = s;
    }
  }
  double* entry(int i, int j) {
    const auto begin = column.begin() + first[i], end = column.begin() + first[i + 1];
    const auto found = std::lower_bound(begin, end, j);
    if (found == end || *found != j)
      throw std::out_of_range("no entry " + std::to_string(i) + ", " + std::to_string(j));
    return &value[found - column.begin()];
  }
};

// Sums that do not depend on the team: each block of rows has its own, and they are added in order.
class Blocks {
 public:
  explicit Blocks(int n) : n_(n), sums_((n + size - 1) / size) {}
  double dot(const Vector& a, const Vector& b) {
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t block = 0; block < sums_.size(); ++block) {
      const int end = std::min(n_, static_cast<int>(block + 1) * size);
      sums_[block] = std::inner_product(a.begin() + block * size, a.begin() + end, b.begin() + block * size, 0.0);
    }
    return std::accumulate(sums_.begin(), sums_.end(), 0.0);
  }

 private:
  static constexpr int size = 32;
  int n_;
  Vector sums_;
};

// ---- assembling: quadrilaterals with a coefficient, nodes numbered by rows

struct Mesh {
  int edge;
  int nodes() const { return (edge + 1) * (edge + 1); }
  std::array<int, 4> corners(int element) const {
    const int i = element % edge, j = element / edge, at = j * (edge + 1) + i;
    return {at, at + 1, at + edge + 2, at + edge + 1};
  }
  double coefficient(int element) const { return element * 7 % 5 == 0 ? 8.0 : 1.0; }
};

constexpr int stiffness[4][4] = {{4, -1, -2, -1}, {-1, 4, -1, -2}, {-2, -1, 4, -1}, {-1, -2, -1, 4}};

// The pattern is found by maps of each thread that are merged under a named critical section.
Matrix pattern(const Mesh& mesh) {
  std::map<int, std::vector<int>> all;
#pragma omp parallel
  {
    std::unordered_map<int, std::vector<int>> own;
#pragma omp for schedule(dynamic, 5) nowait
    for (int e = 0; e < mesh.edge * mesh.edge; ++e)
      for (const int a : mesh.corners(e))
        for (const int b : mesh.corners(e)) own[a].push_back(b);
#pragma omp critical(merge)
    for (auto& [row, columns] : own) {
      auto& list = all[row];
      list.insert(list.end(), columns.begin(), columns.end());
    }
  }
  Matrix m;
  m.rows = m.columns = mesh.nodes();
  m.first.push_back(0);
  for (auto& [row, columns] : all) {
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    m.column.insert(m.column.end(), columns.begin(), columns.end());
    m.first.push_back(static_cast<int>(m.column.size()));
  }
  m.value.assign(m.column.size(), 0.0);
  return m;
}

// All entries are multiples of 1/2 and small: sums are exact in any order.
Matrix assemble(const Mesh& mesh) {
  Matrix m = pattern(mesh);
  std::atomic<int> errors{0};
#pragma omp parallel for schedule(guided)
  for (int e = 0; e < mesh.edge * mesh.edge; ++e) {
    const auto corners = mesh.corners(e);
    try {
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
          double* const at = m.entry(corners[a], corners[b]);
#pragma omp atomic update
          *at += 0.5 * mesh.coefficient(e) * stiffness[a][b];
        }
      m.entry(corners[0], mesh.nodes() + 1);
    } catch (const std::out_of_range&) {
      ++errors;  // once for each element, by the last line
    }
  }
  if (errors != mesh.edge * mesh.edge) throw std::logic_error("exceptions were lost");
#pragma omp parallel for
  for (int i = 0; i < m.rows; ++i) *m.entry(i, i) += 0.5;
  return m;
}

// ---- levels

struct Level {
  Matrix a;
  std::vector<int> aggregate;
  std::vector<std::vector<int>> colours;
  std::vector<double> diagonal;
  mutable Vector residual, correction, right;
  std::unique_ptr<Level> coarser;
  std::vector<double> dense;
};

// Rows in the order of their numbers take what is free around them; pieces of 64 rows are independent.
std::vector<int> aggregate(const Matrix& a, int& count) {
  constexpr int piece = 64;
  const int pieces = (a.rows + piece - 1) / piece;
  std::vector<int> of(a.rows, -1), counts(pieces + 1);
#pragma omp parallel for schedule(static, 1)
  for (int p = 0; p < pieces; ++p) {
    const int begin = p * piece, end = std::min(a.rows, begin + piece);
    int next = 0;
    for (int i = begin; i < end; ++i) {
      if (of[i] >= 0) continue;
      for (int k = a.first[i]; k < a.first[i + 1]; ++k) {
        const int j = a.column[k];
        if (j >= begin && j < end && of[j] < 0 && std::fabs(a.value[k]) > 0.1) of[j] = next;
      }
      of[i] = next++;
    }
    counts[p + 1] = next;
  }
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
#pragma omp parallel for
  for (int i = 0; i < a.rows; ++i) of[i] += counts[i / piece];
  count = counts.back();
  return of;
}

// Rows of the product by hash maps; each row by one thread, in the order of its fine rows.
Matrix coarsen(const Matrix& a, const std::vector<int>& of, int count) {
  std::vector<std::vector<int>> members(count);
  for (int i = 0; i < a.rows; ++i) members[of[i]].push_back(i);
  std::vector<std::vector<std::pair<int, double>>> rows(count);
#pragma omp parallel
  {
    std::unordered_map<int, double> row;
#pragma omp for schedule(dynamic, 4)
    for (int c = 0; c < count; ++c) {
      row.clear();
      for (const int i : members[c])
        for (int k = a.first[i]; k < a.first[i + 1]; ++k) row[of[a.column[k]]] += a.value[k];
      rows[c].assign(row.begin(), row.end());
      std::sort(rows[c].begin(), rows[c].end());
    }
  }
  Matrix m;
  m.rows = m.columns = count;
  m.first.resize(count + 1);
  for (int c = 0; c < count; ++c) m.first[c + 1] = m.first[c] + static_cast<int>(rows[c].size());
  m.column.resize(m.first.back());
  m.value.resize(m.first.back());
#pragma omp parallel for
  for (int c = 0; c < count; ++c)
    for (std::size_t k = 0; k < rows[c].size(); ++k)
      std::tie(m.column[m.first[c] + k], m.value[m.first[c] + k]) = rows[c][k];
  return m;
}

std::unique_ptr<Level> build(Matrix a, int coarsest) {
  auto level = std::make_unique<Level>();
  level->a = std::move(a);
  const Matrix& m = level->a;
  for (Vector* v : {&level->residual, &level->correction, &level->right, &level->diagonal}) v->resize(m.rows);
  std::vector<int> colour(m.rows, -1);
  for (int i = 0; i < m.rows; ++i) {
    std::vector<bool> taken(level->colours.size() + 1);
    for (int k = m.first[i]; k < m.first[i + 1]; ++k) {
      if (m.column[k] == i)
        level->diagonal[i] = m.value[k];
      else if (colour[m.column[k]] >= 0)
        taken[colour[m.column[k]]] = true;
    }
    colour[i] = static_cast<int>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    if (colour[i] == static_cast<int>(level->colours.size())) level->colours.emplace_back();
    level->colours[colour[i]].push_back(i);
  }
  int count = 0;
  if (m.rows > coarsest) level->aggregate = aggregate(m, count);
  if (m.rows > coarsest && count < m.rows) {
    level->coarser = build(coarsen(m, level->aggregate, count), coarsest);
    return level;
  }
  level->dense.resize(m.rows * m.rows);
  for (int i = 0; i < m.rows; ++i)
    for (int k = m.first[i]; k < m.first[i + 1]; ++k) level->dense[i * m.rows + m.column[k]] = m.value[k];
  return level;
}

// Back in the opposite order, so that the whole cycle is symmetric.
void relax(const Level& level, const Vector& b, Vector& x, bool is_back) {
  const Matrix& m = level.a;
  const std::size_t count = level.colours.size();
#pragma omp parallel
  for (std::size_t turn = 0; turn < count; ++turn) {
    const auto& colour = level.colours[is_back ? count - 1 - turn : turn];
#pragma omp for schedule(static)
    for (std::size_t c = 0; c < colour.size(); ++c) {
      const int i = colour[c];
      double s = b[i];
      for (int k = m.first[i]; k < m.first[i + 1]; ++k)
        if (m.column[k] != i) s -= m.value[k] * x[m.column[k]];
      x[i] = s / level.diagonal[i];
    }
  }
}

void solve_densely(const Level& level, const Vector& b, Vector& x) {
  const int n = level.a.rows;
  Vector m = level.dense;
  x = b;
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n; ++i) {
      const double f = m[i * n + k] / m[k * n + k];
      for (int j = k; j < n; ++j) m[i * n + j] -= f * m[k * n + j];
      x[i] -= f * x[k];
    }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) x[i] -= m[i * n + j] * x[j];
    x[i] /= m[i * n + i];
  }
}

void cycle(const Level& level, const Vector& b, Vector& x) {
  if (!level.coarser) return solve_densely(level, b, x);
  const Level& coarser = *level.coarser;
  relax(level, b, x, false);
  level.a.multiply(x, level.residual);
  std::fill(coarser.right.begin(), coarser.right.end(), 0.0);
  for (int i = 0; i < level.a.rows; ++i) coarser.right[level.aggregate[i]] += b[i] - level.residual[i];
  std::fill(coarser.correction.begin(), coarser.correction.end(), 0.0);
  cycle(coarser, coarser.right, coarser.correction);
#pragma omp parallel for
  for (int i = 0; i < level.a.rows; ++i) x[i] += coarser.correction[level.aggregate[i]];
  relax(level, b, x, true);
}

// ---- conjugate gradients, and what is told of the solution

struct Range {
  double least = 1e300, most = -1e300;
  long count = 0;
  void add(double v) { least = std::min(least, v), most = std::max(most, v), ++count; }
  Range& operator+=(const Range& o) {
    least = std::min(least, o.least), most = std::max(most, o.most), count += o.count;
    return *this;
  }
};
#pragma omp declare reduction(merge:Range : omp_out += omp_in) initializer(omp_priv = Range())

struct Solution {
  Vector x;
  int rounds = 0, levels = 0;
  Range range;
};

Solution solve(int edge, int threads) {
  omp_set_num_threads(threads);
  const auto top = build(assemble({edge}), 12);
  const int n = top->a.rows;
  Solution s;
  for (const Level* l = top.get(); l; l = l->coarser.get()) ++s.levels;
  Vector b(n), r(n), z(n), p(n), q(n);
  for (int i = 0; i < n; ++i) b[i] = std::sin(0.37 * i);
  s.x.assign(n, 0.0);
  r = b;
  Blocks blocks(n);
  double rz = 0;
  const double goal = 1e-16 * blocks.dot(b, b);
  for (; s.rounds < 50 && blocks.dot(r, r) > goal; ++s.rounds) {
    std::fill(z.begin(), z.end(), 0.0);
    cycle(*top, r, z);
    const double before = std::exchange(rz, blocks.dot(r, z));
    const double beta = s.rounds ? rz / before : 0;
#pragma omp parallel for simd
    for (int i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    top->a.multiply(p, q);
    const double alpha = rz / blocks.dot(p, q);
#pragma omp parallel for
    for (int i = 0; i < n; ++i) s.x[i] += alpha * p[i], r[i] -= alpha * q[i];
  }
  Range range;
#pragma omp parallel for reduction(merge : range) schedule(static, 7)
  for (int i = 0; i < n; ++i) range.add(s.x[i]);
  s.range = range;
  top->a.multiply(s.x, q);
  for (int i = 0; i < n; ++i)
    if (!(std::fabs(q[i] - b[i]) < 1e-5)) throw std::runtime_error("row " + std::to_string(i) + " is not solved");
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  const int edge = argc > 1 ? std::atoi(argv[1]) : 10, team = omp_get_max_threads();
  try {
    const Solution alone = solve(edge, 1);
    int wrong = 0;
    for (const int threads : {team, 1 + team / 2}) {
      const Solution s = solve(edge, threads);
      wrong += s.x != alone.x;
      wrong += s.rounds != alone.rounds || s.levels != alone.levels;
      wrong +=
          s.range.least != alone.range.least || s.range.most != alone.range.most || s.range.count != alone.range.count;
    }
    std::printf("%zu unknowns, %d levels, %d rounds, from %.9f to %.9f\n", alone.x.size(), alone.levels, alone.rounds,
                alone.range.least, alone.range.most);
    std::puts(wrong ? "WRONG" : "verified");
    return wrong != 0;
  } catch (const std::exception& error) {
    std::printf("WRONG: %s\n", error.what());
    return 1;
  }
}
