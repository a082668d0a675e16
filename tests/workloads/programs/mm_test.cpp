#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"

using namespace sdsm::test;

namespace {

using Matrix = std::vector<float>;

Matrix product(const std::string& options, int threads = 1) {
  return result_of<float>("mm", options, threads, "the weighted sums of all rows are exact");
}

}  // namespace

TEST_CASE("the product of 2 x 2 matches hand arithmetic") {
  // (0, 5; 3, 1) times the transpose of (0, 7; 1, 1).
  CHECK(product("--impl 0 --size 2") == Matrix{35, 5, 7, 4});
}

TEST_CASE("the product is the same for any number of threads") {
  const std::string size = GENERATE("--size 1", "--size 5", "--size 33", "--size 100");
  const Matrix sequential = product("--impl 0 " + size);
  for (const int threads : {1, 2, 3, 4, 8}) {
    CAPTURE(threads);
    CHECK(product(size, threads) == sequential);
  }
}
