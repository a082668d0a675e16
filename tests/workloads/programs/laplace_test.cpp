#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"

using namespace sdsm::test;

namespace {

using Grid = std::vector<double>;

Outcome laplace(const std::string& options, const std::string& environment = "") {
  return run(environment, program("laplace") + " " + options);
}

/// The grid after a run whose own check passed.
Grid grid_after(const std::string& options, int threads = 1) {
  return result_of<double>("laplace", options, threads, "identical to the sequential grid");
}

}  // namespace

TEST_CASE("one step on 3 x 3 averages the four edges") {
  CHECK(grid_after("--impl 0 --size 3 --iterations 1") == Grid{100, 100, 100,  //
                                                               0, 25, 0,       //
                                                               0, 0, 0});
}

TEST_CASE("zero steps leave the grid unchanged") {
  CHECK(grid_after("--impl 4 --size 3 --iterations 0") == Grid{100, 100, 100, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("two steps on 4 x 4 use only old values in each") {
  // Step 1: 25 25 / 0 0. Step 2: (100 + 25)/4 = 31.25 and 25/4 = 6.25. New values would give (100 + 0 + 25)/4 and so
  // on.
  CHECK(grid_after("--impl 0 --size 4 --iterations 2") == Grid{100, 100, 100, 100,  //
                                                               0, 31.25, 31.25, 0,  //
                                                               0, 6.25, 6.25, 0,    //
                                                               0, 0, 0, 0});
}

TEST_CASE("hot edges are the requested ones") {
  // (left 100)/4 = 25; nothing; (left 100 + bottom 100)/4 = 50; (bottom 100)/4 = 25.
  CHECK(grid_after("--impl 0 --size 4 --iterations 1 --hot left,bottom") == Grid{100, 0, 0, 0,    //
                                                                                 100, 25, 0, 0,   //
                                                                                 100, 50, 25, 0,  //
                                                                                 100, 100, 100, 100});
  CHECK(grid_after("--impl 0 --size 3 --iterations 1 --hot right") == Grid{0, 0, 100, 0, 25, 100, 0, 0, 100});
  CHECK(grid_after("--impl 0 --size 3 --iterations 9 --hot all") == Grid(9, 100.0));
  CHECK(grid_after("--impl 0 --size 3 --iterations 9 --hot none") == Grid(9, 0.0));
}

TEST_CASE("every implementation gives the sequential grid's bits on any team") {
  const int implementation = GENERATE(1, 2, 3, 4, 5, 6);
  // 5: fewer rows than threads; 67: odd, and no multiple of any team; 64: rows of an eighth of a page.
  const int size = GENERATE(3, 5, 64, 67);
  const std::string options = " --size " + std::to_string(size) + " --iterations 7 --hot top,right";
  const Grid expected = grid_after("--impl 0" + options);
  REQUIRE(expected.size() == static_cast<std::size_t>(size) * size);
  for (const int threads : {1, 2, 3, 4, 8}) {
    CAPTURE(implementation, size, threads);
    CHECK(grid_after("--impl " + std::to_string(implementation) + options, threads) == expected);
  }
}

TEST_CASE("even and odd numbers of steps end in the right grid") {
  const int implementation = GENERATE(1, 2, 3, 4, 5, 6);
  const std::string iterations = GENERATE("1", "2");
  const std::string options = " --size 10 --iterations " + iterations;
  CHECK(grid_after("--impl " + std::to_string(implementation) + options, 2) == grid_after("--impl 0" + options));
}

TEST_CASE("the hash distinguishes grids and is FNV-1a") {
  const auto hash_of = [](const std::string& options) {
    const std::string output = laplace(options + " --no-check --hash").output;
    const auto at = output.find("hash: ");
    REQUIRE(at != std::string::npos);
    return output.substr(at + 6, 16);
  };
  CHECK(hash_of("--size 9 --impl 0") == hash_of("--size 9 --impl 3"));
  CHECK(hash_of("--size 9 --impl 0 --iterations 2") != hash_of("--size 9 --impl 0 --iterations 3"));
  // 72 zero bytes: the offset basis times the prime 72 times, modulo 2^64.
  std::uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < 72; ++i) hash *= 1099511628211u;
  std::ostringstream text;
  text << std::hex << hash;
  const std::string digits = text.str();
  CHECK(hash_of("--size 3 --hot none") == std::string(16 - digits.size(), '0') + digits);
}

TEST_CASE("without the check only the time is reported") {
  const Outcome outcome = laplace("--size 8 --no-check");
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("time: ") != std::string::npos);
  CHECK(outcome.output.find("check") == std::string::npos);
}

TEST_CASE("a run-time without memory or placement fails with status 1") {
  const std::string refusing = preload("placement_runtime") + " PLACEMENT_HOMES=refuse";
  const Outcome allocation = laplace("--size 8 --impl 4", refusing);
  CHECK(allocation.status == 1);
  CHECK(allocation.errors.find("laplace: no memory for a grid of 8 x 8 (512 bytes)\n") != std::string::npos);
  const Outcome mapping = laplace("--size 8 --impl 6", refusing);
  CHECK(mapping.status == 1);
  CHECK(mapping.errors.find("laplace: the run-time refused to place") != std::string::npos);
}

TEST_CASE("implementations 3 to 6 ask for placement of the used bytes") {
  const auto asked = [](int implementation) {
    const Outcome outcome =
        laplace("--size 100 --iterations 1 --impl " + std::to_string(implementation), preload("placement_runtime"));
    CHECK(outcome.status == 0);
    return outcome.errors;
  };
  for (const int implementation : {0, 1, 2}) CHECK(asked(implementation).empty());
  for (const int implementation : {3, 4})
    CHECK(asked(implementation) == "galloc 80000 1\ngalloc 80000 1\ngfree\ngfree\n");
  for (const int implementation : {5, 6}) CHECK(asked(implementation) == "map 80000 1\nmap 80000 1\n");
}

TEST_CASE("a grid that cannot be written fails the run") {
  const Outcome outcome = laplace("--size 8 --output /nonexistent/grid");
  CHECK(outcome.status == 1);
  CHECK(outcome.errors == "laplace: cannot write '/nonexistent/grid': No such file or directory\n");
  const Outcome full = laplace("--size 64 --output /dev/full");
  CHECK(full.status == 1);
  CHECK(full.errors.find("No space left on device") != std::string::npos);
}
