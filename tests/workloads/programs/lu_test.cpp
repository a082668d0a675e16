#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"

using namespace sdsm::test;

namespace {

/// Column by column: L below the diagonal, whose ones are left out, U on and above it.
using Matrix = std::vector<double>;

Matrix factors(const std::string& options, int threads = 1) {
  return result_of<double>("lu", options, threads, "the factors' product is the matrix");
}

/// The documented matrix.
Matrix initial(std::size_t n) {
  Matrix a(n * n);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      a[column * n + row] = static_cast<double>((row * 7919 + column * 104729) % 1009) / 1009;
    }
    a[row * n + row] += static_cast<double>(n);
  }
  return a;
}

/// Row by row of U, column by column of L, each element from its sum.
Matrix expected(std::size_t n) {
  Matrix a = initial(n);
  const auto at = [&](std::size_t row, std::size_t column) -> double& { return a[column * n + row]; };
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = k; j < n; ++j) {
      for (std::size_t m = 0; m < k; ++m) at(k, j) -= at(k, m) * at(m, j);
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t m = 0; m < k; ++m) at(i, k) -= at(i, m) * at(m, k);
      at(i, k) /= at(k, k);
    }
  }
  return a;
}

}  // namespace

TEST_CASE("the factors of 2 x 2 match hand arithmetic") {
  // 7919 = 856 and 104729 = 802 modulo 1009: the matrix is (2, 802/1009; 856/1009, 2 + 649/1009).
  const double lower = 856.0 / 1009 / 2;
  CHECK(factors("--impl 0 --size 2 --block 1") ==
        Matrix{2, lower, 802.0 / 1009, 2 + 649.0 / 1009 - lower * 802 / 1009});
  CHECK(factors("--size 1 --block 4") == Matrix{1});
}

TEST_CASE("blocks of any size give the factors of plain sums") {
  const std::size_t n = GENERATE(7, 24);
  const Matrix wanted = expected(n);
  for (const char* block : {"1", "3", "4", "7", "24", "32"}) {
    const Matrix found = factors("--size " + std::to_string(n) + " --block " + block, 2);
    REQUIRE(found.size() == wanted.size());
    for (std::size_t at = 0; at < found.size(); ++at) CHECK(found[at] == Approx(wanted[at]).epsilon(1e-12));
  }
}

TEST_CASE("parallel factors have the sequential bits on any team") {
  // A block for each thread and less; sides that no grid of threads divides.
  const std::string size = GENERATE("--size 9 --block 8", "--size 100 --block 16", "--size 61 --block 5");
  const Matrix sequential = factors("--impl 0 " + size);
  for (const int threads : {1, 2, 3, 4, 6, 8}) {
    CAPTURE(threads);
    CHECK(factors(size, threads) == sequential);
  }
}
