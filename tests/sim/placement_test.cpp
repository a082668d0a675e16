/// Pages placed by first touch: the first thread in simulated time is the home.

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

RunOptions by_first_touch() {
  return {.placement = HeapPlacement::first_touch};
}

std::uint64_t faults(const Result& result, std::size_t thread, FaultKind kind) {
  return result.threads[thread].whole.faults[static_cast<std::size_t>(kind)];
}

}  // namespace

TEST_CASE("first touch: the earliest thread is the home") {
  // Page 1 would be process 1's. Process 0 comes to it after 2 ms, process 1 after 6 ms, or the other way round.
  const bool first_is_0 = GENERATE(true, false);
  TestProgram program({2, 1});
  program.barrier(0, first_is_0 ? 2000 : 6000, {writes(1, 255)});
  program.barrier(1, first_is_0 ? 6000 : 2000, {writes(1, 255)});
  const Result result = run(program, by_first_touch());
  const std::size_t home = first_is_0 ? 0 : 1;
  CHECK(faults(result, 1 - home, FaultKind::WUMR) == 1);
  CHECK(faults(result, home, FaultKind::WUMR) == 0);
}

TEST_CASE("first touch: a page stays, and a read places it, too") {
  TestProgram program({2, 1});
  program.barrier_of_all({{100}, {100, {reads(0)}}});
  program.barrier_of_all({{100, {writes(0)}}, {100}});
  program.barrier_of_all({{100, {writes(0)}}, {100, {writes(0)}}});
  const Result result = run(program, by_first_touch());
  CHECK(faults(result, 0, FaultKind::WUMR) == 2);
  CHECK(faults(result, 1, FaultKind::WUMR) == 0);
  CHECK(faults(result, 1, FaultKind::RUMR) == faults(run(program), 1, FaultKind::RUMR) - 1);
}
