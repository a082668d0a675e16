#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"

using namespace sdsm::test;

namespace {

using Matrix = std::vector<float>;

Matrix product(const std::string& options, int threads = 1) {
  return result_of<float>("mm", options, threads, "the weighted sums of all rows are exact");
}

}  // namespace

TEST_CASE("the product of 2 x 2 is that by hand") {
  // (0, 5; 3, 1) times the transpose of (0, 7; 1, 1).
  CHECK(product("--impl 0 --size 2") == Matrix{35, 5, 7, 4});
}

TEST_CASE("the product is the same on any number of threads") {
  const std::string size = GENERATE("--size 1", "--size 5", "--size 33", "--size 100");
  const Matrix sequential = product("--impl 0 " + size);
  for (const int threads : {1, 2, 3, 4, 8}) {
    CAPTURE(threads);
    CHECK(product(size, threads) == sequential);
  }
}

TEST_CASE("a product that was not computed fails the check") {
  // Under this run-time no parallel region runs.
  const Outcome outcome = run(preload("broken_runtime"), program("mm") + " --size 64");
  CHECK(outcome.status == 1);
  CHECK(is_one_line(outcome.errors));
  CHECK(outcome.errors.rfind("mm: check failed: row 0 has the weighted sum ", 0) == 0);
}

TEST_CASE("each thread gets equally many blocks of a matrix's pages") {
  // 300 x 300 floats are 360000 bytes: 30 pages for each of 3 threads.
  const Outcome outcome =
      run(preload("placement_runtime") + " OMP_NUM_THREADS=3", program("mm") + " --size 300 --no-check");
  CHECK(outcome.status == 0);
  const std::string asked = "galloc " + std::to_string(90 * 4096) + " 1\n";
  CHECK(outcome.errors == asked + asked + asked + "gfree\ngfree\ngfree\n");
}

TEST_CASE("mm refuses bad usage") {
  check_refused("mm", "--impl 2", "--impl '2' is not a whole number from 0 to 1");
  check_refused("mm", "--size 0", "--size '0' is not a whole number from 1");
  check_refused("mm", "--block 4", "unrecognized option '--block'");
}
