#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"

using namespace sdsm::test;

namespace {

using Plate = std::vector<float>;

Plate plate_after(const std::string& options, int threads = 1) {
  return result_of<float>("sor", options, threads, "identical to the sequential plate");
}

}  // namespace

TEST_CASE("a step computes black points from red ones, then the reverse") {
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

TEST_CASE("the parallel plate has the sequential bits on any team") {
  // Fewer rows than threads; shares that differ; more than a page of each colour.
  const std::string size =
      GENERATE("--rows 3 --columns 6", "--rows 5 --columns 4", "--rows 29 --columns 66", "--rows 16 --columns 4098");
  const Plate expected = plate_after("--impl 0 --iterations 9 " + size);
  for (const int threads : {1, 2, 3, 4, 8}) {
    CAPTURE(threads);
    CHECK(plate_after("--iterations 9 " + size, threads) == expected);
  }
}
