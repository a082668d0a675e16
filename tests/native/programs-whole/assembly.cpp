// Finite elements: a stiffness matrix assembled into maps under locks held by guards, into one array by atomics, and by
// the elements of each node; then solved by a Jacobi-preconditioned conjugate gradient on a class with operators.
#include <omp.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace {

class Lock {
 public:
  Lock() { omp_init_lock(&lock_); }
  Lock(const Lock&) : Lock() {}
  Lock& operator=(const Lock&) = delete;
  ~Lock() { omp_destroy_lock(&lock_); }
  omp_lock_t* get() { return &lock_; }

 private:
  omp_lock_t lock_;
};

class Guard {
 public:
  explicit Guard(Lock& lock) : lock_(lock.get()) { omp_set_lock(lock_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { omp_unset_lock(lock_); }

 private:
  omp_lock_t* lock_;
};

struct Triangle {
  std::size_t corners[3];
};

struct Mesh {
  std::vector<double> x, y;
  std::vector<Triangle> triangles;
  std::vector<char> boundary;
};

Mesh make_mesh(std::size_t n) {
  Mesh mesh;
  for (std::size_t i = 0; i <= n; ++i)
    for (std::size_t j = 0; j <= n; ++j) {
      const bool edge = i == 0 || j == 0 || i == n || j == n;
      mesh.x.push_back((static_cast<double>(i) + (edge ? 0 : 0.2 * std::sin(7.0 * static_cast<double>(j)))) /
                       static_cast<double>(n));
      mesh.y.push_back((static_cast<double>(j) + (edge ? 0 : 0.2 * std::cos(5.0 * static_cast<double>(i)))) /
                       static_cast<double>(n));
      mesh.boundary.push_back(edge);
    }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t a = i * (n + 1) + j, b = a + n + 1;
      mesh.triangles.push_back({{a, b, a + 1}});
      mesh.triangles.push_back({{b, b + 1, a + 1}});
    }
  return mesh;
}

struct Local {
  double stiffness[3][3], area;
};

Local local_of(const Mesh& mesh, const Triangle& t) {
  double b[3], c[3];
  for (int k = 0; k < 3; ++k) {
    const std::size_t p = t.corners[(k + 1) % 3], q = t.corners[(k + 2) % 3];
    b[k] = mesh.y[p] - mesh.y[q];
    c[k] = mesh.x[q] - mesh.x[p];
  }
  Local local;
  local.area = (b[0] * c[1] - b[1] * c[0]) / 2;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) local.stiffness[i][j] = (b[i] * b[j] + c[i] * c[j]) / (4 * local.area);
  return local;
}

class Matrix {
 public:
  explicit Matrix(const std::vector<std::map<std::size_t, double>>& rows) {
    starts_.push_back(0);
    for (const auto& row : rows) {
      for (const auto& [column, value] : row) {
        columns_.push_back(column);
        values_.push_back(value);
      }
      starts_.push_back(columns_.size());
    }
  }
  std::size_t place(std::size_t row, std::size_t column) const {
    const auto from = columns_.begin() + static_cast<std::ptrdiff_t>(starts_[row]);
    const auto to = columns_.begin() + static_cast<std::ptrdiff_t>(starts_[row + 1]);
    return static_cast<std::size_t>(std::lower_bound(from, to, column) - columns_.begin());
  }
  std::size_t rows() const { return starts_.size() - 1; }
  std::vector<double>& values() { return values_; }
  const std::vector<double>& values() const { return values_; }
  double diagonal(std::size_t row) const { return values_[place(row, row)]; }
  void multiply(const std::vector<double>& x, std::vector<double>& y) const {
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < rows(); ++i) {
      double sum = 0;
      for (std::size_t k = starts_[i]; k < starts_[i + 1]; ++k) sum += values_[k] * x[columns_[k]];
      y[i] = sum;
    }
  }

 private:
  std::vector<std::size_t> starts_, columns_;
  std::vector<double> values_;
};

std::vector<std::map<std::size_t, double>> assembled_in_maps(const Mesh& mesh) {
  std::vector<std::map<std::size_t, double>> rows(mesh.x.size());
  std::vector<Lock> locks(mesh.x.size());
#pragma omp parallel for schedule(static)
  for (std::size_t e = 0; e < mesh.triangles.size(); ++e) {
    const Triangle& t = mesh.triangles[e];
    const Local local = local_of(mesh, t);
    for (int i = 0; i < 3; ++i) {
      const Guard guard(locks[t.corners[i]]);
      for (int j = 0; j < 3; ++j) rows[t.corners[i]][t.corners[j]] += local.stiffness[i][j];
    }
  }
  return rows;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
#pragma omp parallel for reduction(max : worst)
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
  return a.size() == b.size() ? worst : 1e9;
}

void assembled_by_atomics(const Mesh& mesh, Matrix& matrix) {
  double* values = matrix.values().data();
  std::fill(matrix.values().begin(), matrix.values().end(), 0.0);
#pragma omp parallel for schedule(guided, 8)
  for (std::size_t e = 0; e < mesh.triangles.size(); ++e) {
    const Triangle& t = mesh.triangles[e];
    const Local local = local_of(mesh, t);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
#pragma omp atomic
        values[matrix.place(t.corners[i], t.corners[j])] += local.stiffness[i][j];
      }
  }
}

void assembled_by_nodes(const Mesh& mesh, Matrix& matrix) {
  std::vector<std::vector<std::pair<std::size_t, int>>> around(mesh.x.size());
  for (std::size_t e = 0; e < mesh.triangles.size(); ++e)
    for (int k = 0; k < 3; ++k) around[mesh.triangles[e].corners[k]].emplace_back(e, k);
  std::fill(matrix.values().begin(), matrix.values().end(), 0.0);
#pragma omp parallel for
  for (std::size_t node = 0; node < around.size(); ++node)
    for (const auto& [e, i] : around[node]) {
      const Local local = local_of(mesh, mesh.triangles[e]);
      for (int j = 0; j < 3; ++j)
        matrix.values()[matrix.place(node, mesh.triangles[e].corners[j])] += local.stiffness[i][j];
    }
}

std::tuple<int, double> solve(const Matrix& matrix, const Mesh& mesh, std::vector<double>& x, int most) {
  const std::size_t n = matrix.rows();
  std::vector<double> r(n), z(n), p(n), q(n), b(n);
  double rho = 0, denominator = 0, next = 0;
  int steps = 0;
#pragma omp parallel
  {
#pragma omp for
    for (std::size_t i = 0; i < n; ++i)
      b[i] = mesh.x[i] * mesh.x[i] - mesh.y[i] * mesh.y[i];  // harmonic, and the boundary's
#pragma omp for
    for (std::size_t i = 0; i < n; ++i) x[i] = mesh.boundary[i] ? b[i] : 0;
    matrix.multiply(x, q);
#pragma omp for reduction(+ : rho)
    for (std::size_t i = 0; i < n; ++i) {
      r[i] = mesh.boundary[i] ? 0 : -q[i];
      p[i] = z[i] = r[i] / matrix.diagonal(i);
      rho += r[i] * z[i];
    }
    for (int step = 0; step < most && rho > 1e-20; ++step) {
#pragma omp barrier
#pragma omp single
      {
        denominator = next = 0;
        ++steps;
      }
      matrix.multiply(p, q);
#pragma omp for reduction(+ : denominator)
      for (std::size_t i = 0; i < n; ++i) denominator += mesh.boundary[i] ? 0 : p[i] * q[i];
      const double alpha = rho / denominator;
#pragma omp for reduction(+ : next)
      for (std::size_t i = 0; i < n; ++i) {
        if (mesh.boundary[i]) continue;
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        z[i] = r[i] / matrix.diagonal(i);
        next += r[i] * z[i];
      }
      const double beta = next / rho;
#pragma omp for
      for (std::size_t i = 0; i < n; ++i) p[i] = mesh.boundary[i] ? 0 : z[i] + beta * p[i];
#pragma omp single
      rho = next;
    }
  }
  return {steps, rho};
}

}  // namespace

int main(int argc, char** argv) {
  const Mesh mesh = make_mesh(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 16);
  const int most = argc > 2 ? std::atoi(argv[2]) : 60;
  const double begun = omp_get_wtime();
  Matrix by_maps(assembled_in_maps(mesh)), by_atomics = by_maps, by_nodes = by_maps;
  assembled_by_atomics(mesh, by_atomics);
  assembled_by_nodes(mesh, by_nodes);
  const double first = largest_difference(by_maps.values(), by_nodes.values());
  const double second = largest_difference(by_atomics.values(), by_nodes.values());
  std::vector<double> x(mesh.x.size());
  const auto [steps, rest] = solve(by_nodes, mesh, x, most);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::fabs(x[i] - mesh.x[i] * mesh.x[i] + mesh.y[i] * mesh.y[i]));
  const bool good = first < 1e-12 && second < 1e-12 && rest < 1e-12 && worst < 0.05;
  std::printf("assembly: %zu triangles, %d steps to %.1e, off by %.4f, %.1e %.1e, %.3f s: %s\n", mesh.triangles.size(),
              steps, rest, worst, first, second, omp_get_wtime() - begun, good ? "verified" : "WRONG");
  return !good;
}
