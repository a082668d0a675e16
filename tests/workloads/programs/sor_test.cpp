#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"

using namespace sdsm::test;

namespace {

using Plate = std::vector<float>;

Plate plate_after(const std::string& options, int threads = 1) {
  return result_of<float>("sor", options, threads, "identical to the sequential plate");
}

}  // namespace

TEST_CASE("a step computes black points, then red ones from them") {
  // (1,2) and (2,1) are black: 100/4 and 0. (1,1) = (100 + 25)/4; (2,2) = 25/4.
  CHECK(plate_after("--impl 0 --rows 4 --columns 4 --iterations 1") == Plate{100, 100, 100, 100,  //
                                                                             0, 31.25, 25, 0,     //
                                                                             0, 0, 6.25, 0,       //
                                                                             0, 0, 0, 0});
}

TEST_CASE("the second step begins with the first one's red points") {
  // Black (100 + 31.25)/4, then red (100 + 32.8125)/4.
  CHECK(plate_after("--rows 3 --columns 4 --iterations 2") == Plate{100, 100, 100, 100,        //
                                                                    0, 33.203125, 32.8125, 0,  //
                                                                    0, 0, 0, 0});
}

TEST_CASE("the parallel plate is the sequential one on any number of threads") {
  // Fewer rows than threads; shares that differ; more than a page of each colour.
  const std::string size =
      GENERATE("--rows 3 --columns 6", "--rows 5 --columns 4", "--rows 29 --columns 66", "--rows 16 --columns 4098");
  const Plate expected = plate_after("--impl 0 --iterations 9 " + size);
  for (const int threads : {1, 2, 3, 4, 8}) {
    CAPTURE(threads);
    CHECK(plate_after("--iterations 9 " + size, threads) == expected);
  }
}

TEST_CASE("a wrong plate ends with status 1 and its first wrong point") {
  // Under this run-time no parallel region runs, so the plate stays as it began.
  const Outcome outcome = run(preload("broken_runtime"), program("sor") + " --rows 4 --columns 4 --iterations 1");
  CHECK(outcome.status == 1);
  CHECK(outcome.errors == "sor: check failed: row 1, column 1 is 0 where the sequential plate has 31.25\n");
}

TEST_CASE("rows of both colours are placed by blocks") {
  // 5 rows on 2 threads: two groups of 2 rows and row 4, which thread 0 has beside rows 0 and 1: parts of 4 pages.
  const Outcome outcome = run(preload("placement_runtime") + " OMP_NUM_THREADS=2",
                              program("sor") + " --rows 5 --columns 4 --iterations 1 --no-check");
  CHECK(outcome.status == 0);
  CHECK(outcome.errors == "galloc 32768 1\ngalloc 32768 1\ngfree\ngfree\n");
}

TEST_CASE("sor refuses bad usage") {
  check_refused("sor", "--impl 2", "--impl '2' is not a whole number from 0 to 1");
  check_refused("sor", "--rows 2", "--rows '2' is not a whole number from 3");
  check_refused("sor", "--columns 7", "--columns 7 is odd");
  check_refused("sor", "--iterations -1", "--iterations '-1' is not");
  check_refused("sor", "--size 4", "unrecognized option '--size'");
  check_refused("sor", "4", "unexpected argument '4'");
}

TEST_CASE("sor's help names its options") {
  const Outcome outcome = run("", program("sor") + " --help");
  CHECK(outcome.status == 0);
  for (const char* option : {"--impl", "--rows", "--columns", "--iterations", "--output"}) {
    CHECK(outcome.output.find(option) != std::string::npos);
  }
}
