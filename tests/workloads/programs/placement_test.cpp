#include <limits>

#include "tests/catch.hpp"
#include "tests/workloads/programs/run_program.hpp"
#include "workloads/include/sdsm/placement.h"

using namespace sdsm::test;

namespace {

std::string any_probe() {
  const std::string kind = GENERATE("c_pie", "c_fixed", "cpp_pie", "cpp_fixed");
  return std::string(SDSM_BINARY_DIR) + "/tests/placement_probe_" + kind;
}

}  // namespace

TEST_CASE("under an ordinary run-time placement allocates whole pages and divides rows equally") {
  const std::string probe = any_probe();
  CAPTURE(probe);
  const Outcome outcome = run("", probe);
  CHECK(outcome.status == 0);
  // Rows 1..7 are seven: three for the first thread, two for each other.
  CHECK(outcome.output == "aligned 1\nmap 0\nhome of row 5: -1\n[1,4)\n[4,6)\n[6,8)\n");
  CHECK(outcome.errors.empty());
}

TEST_CASE("shares of the longest loop cover its iterations in order") {
  constexpr long first = std::numeric_limits<long>::min(), last = std::numeric_limits<long>::max();
  for (const int parts : {1, 3, 4, 7}) {
    long next = first;
    for (int part = 0; part < parts; ++part) {
      const sdsm_rows share = sdsm_equal_share(first, last, part, parts);
      CHECK(share.begin == next);
      CHECK(share.end > share.begin);
      next = share.end;
    }
    CHECK(next == last);
  }
}

TEST_CASE("a preloaded run-time is asked, by position-independent and by fixed code") {
  const std::string probe = any_probe();
  CAPTURE(probe);
  const Outcome outcome = run(preload("placement_runtime"), probe);
  CHECK(outcome.status == 0);
  // Row i is page i and has home i: row 1 is thread 1's; rows 2..7 fall to the last of three threads.
  CHECK(outcome.output == "aligned 1\nmap 0\nhome of row 5: 5\n[1,1)\n[1,2)\n[2,8)\n");
  CHECK(outcome.errors == "galloc 5000 1\nmap 32768 1\ngfree\ngfree\n");
}

#ifdef SDSM_HAVE_GFORTRAN
TEST_CASE("Fortran reaches the same calls, and counts columns from 1") {
  const std::string probe = std::string(SDSM_BINARY_DIR) + "/tests/placement_probe_fortran";
  const Outcome ordinary = run("", probe);
  CHECK(ordinary.status == 0);
  CHECK(ordinary.output == "has a home: 0\n2..4\n5..6\n7..8\n13 10015 1045\n");
  const Outcome preloaded = run(preload("placement_runtime"), probe);
  CHECK(preloaded.status == 0);
  // Column i is page i - 1 and has home i - 1: nothing of 2..8 is the first thread's.
  CHECK(preloaded.output == "has a home: 1\n2..1\n2..2\n3..8\n13 10015 1045\n");
  CHECK(preloaded.errors == "galloc 32768 1\ngfree\n");
}
#endif

TEST_CASE("affinity shares out each row once, however the pages are placed") {
  // A row that no thread or two threads computed would fail the program's check against the sequential grid.
  const std::string homes = GENERATE("rows", "scattered");
  const int implementation = GENERATE(5, 6);
  const int threads = GENERATE(1, 2, 3, 5, 8);
  CAPTURE(homes, implementation, threads);
  const Outcome outcome =
      run(preload("placement_runtime") + " PLACEMENT_HOMES=" + homes + " OMP_NUM_THREADS=" + std::to_string(threads),
          program("laplace") + " --size 100 --iterations 3 --impl " + std::to_string(implementation));
  CHECK(outcome.status == 0);
  CHECK(outcome.output.find("check: identical") != std::string::npos);
}
