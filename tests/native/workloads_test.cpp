/// The project's own programs: their traces are the same each time, and hold as many touches as the kernels say.
#include "tests/catch.hpp"
#include "tests/native/traced_run.hpp"

using namespace sdsm;
using namespace sdsm::tests;

namespace {

TraceContent trace_workload(const std::vector<std::string>& words, unsigned threads) {
  const TemporaryFolder folder;
  std::vector<std::string> command{std::string(SDSM_BINARY_DIR) + "/workloads/" + words[0]};
  command.insert(command.end(), words.begin() + 1, words.end());
  const CommandResult result = run_command(tracing(threads, folder / "t.trace", command));
  INFO(result.errors);
  REQUIRE(result.status == 0);
  return read_trace(folder / "t.trace");
}

std::size_t count_of(const Step& step, Access access, const std::string& region_start) {
  std::size_t count = 0;
  for (const PageTouch& touch : step.touches) {
    count += touch.access == access && touch.region.starts_with(region_start) ? 1 : 0;
  }
  return count;
}

}  // namespace

// Not swim's: its sums' last bits, and so the words that change, hang on who adds first.
TEST_CASE("two traces of a program are equal in everything but time") {
  const std::vector<std::string> words =
      GENERATE(std::vector<std::string>{"laplace", "--impl", "1", "--size", "128", "--iterations", "3"},
               std::vector<std::string>{"laplace", "--impl", "4", "--size", "128", "--iterations", "3"},
               std::vector<std::string>{"laplace", "--impl", "6", "--size", "128", "--iterations", "3"},
               std::vector<std::string>{"fft", "--impl", "1", "--points", "1024"},
               std::vector<std::string>{"fft", "--impl", "4", "--points", "16384", "--cache-bytes", "65536"},
               std::vector<std::string>{"sor", "--rows", "30", "--iterations", "3"},
               std::vector<std::string>{"lu", "--size", "100", "--block", "16"},
               std::vector<std::string>{"mm", "--size", "100"});
  const TraceContent first = trace_workload(words, 4);
  const TraceContent second = trace_workload(words, 4);
  CHECK(first.regions == second.regions);
  REQUIRE(first.threads.size() == second.threads.size());
  for (std::size_t thread = 0; thread < first.threads.size(); ++thread) {
    CHECK(first.threads[thread] == second.threads[thread]);
  }
}

TEST_CASE("Laplace 4: thread 1 of 4 writes 256 rows, reads 2 more") {
  // Rows 256..511: written 256 x 2 pages; read with the row above and the one below 258 x 2.
  const TraceContent trace =
      trace_workload({"laplace", "--impl", "4", "--size", "1024", "--iterations", "3", "--no-check"}, 4);
  std::size_t iterations = 0;
  for (const Step& step : trace.threads[1]) {
    if (step.end.kind != EventKind::barrier) continue;
    ++iterations;
    CHECK(count_of(step, Access::write, "heap") == 512);
    CHECK(count_of(step, Access::read, "heap") == 516);
  }
  CHECK(iterations == 3);
}

TEST_CASE("swim: thread 1 of 2 touches its half of each field") {
  // 512 rows, the last of which repeats the first: loops over 0..510 give thread 1 rows 256..510.
  const TraceContent trace = trace_workload({"swim", "--size", "512", "--iterations", "2", "--no-check"}, 2);
  const auto touched = [&](std::uint64_t region, Access access) {
    std::size_t count = 0;
    for (const Step& step : trace.in_region(1, region)) count += count_of(step, access, "heap");
    return count;
  };
  // Region 0 starts the threads; the fluxes are region 1, the second time region 9.
  for (const std::uint64_t fluxes : {1, 9}) {
    CHECK(touched(fluxes, Access::read) == 3 * 256);  // u, v and p of rows 256..511
    CHECK(touched(fluxes, Access::write) == 4 * 255);
    // The column that repeats another, of the two fields that lie between rows in rows 257..511.
    CHECK(touched(fluxes + 1, Access::write) == 4 * 255);
    // Row 511 of two fields from row 0, and row 0 of the others from row 511.
    CHECK(touched(fluxes + 2, Access::write) == 4);
    // Fluxes and h of rows 256..511, cv and z of these, cu too; the old fields of one row less.
    CHECK(touched(fluxes + 3, Access::read) == 4 * 256 + 3 * 255);
    CHECK(touched(fluxes + 3, Access::write) == 3 * 255);
    CHECK(touched(fluxes + 4, Access::write) == 3 * 255);
    CHECK(touched(fluxes + 5, Access::write) == 3);
    CHECK(touched(fluxes + 6, Access::read) == 3 * 255);
    // Smoothing is of all rows: nine fields are read, the old and the present ones written.
    CHECK(touched(fluxes + 7, Access::read) == 9 * 256);
    CHECK(touched(fluxes + 7, Access::write) == 6 * 256);
  }
  CHECK(trace.in_region(1, 17).empty());
}
