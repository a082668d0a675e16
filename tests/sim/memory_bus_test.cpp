/// Threads of a node that wait for memory at once slow each other's computing, and nothing else.

#include "sim/replay.hpp"
#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

/// Two threads of a node at memory-bound loops take 1.6 times as long as one.
PlatformText with_memory_bus() {
  PlatformText text{{"memory-bus.2", "1.6"}};
  return text;
}

/// Each thread computes for a millisecond, then reads a page of another node.
TestProgram program(Layout layout) {
  TestProgram computing(layout);
  for (std::uint32_t t = 0; t < layout.processes(); ++t) computing.barrier(t, 1000, {reads(0, 128)});
  return computing;
}

RunOptions memory_bound(double share) {
  return {.memory_bound = share};
}

Time computing(const Result& result) {
  return spent(result.threads[0].whole, Spent::compute);
}

}  // namespace

TEST_CASE("the memory-bound share of computing grows by the platform's factor") {
  const TemporaryFile file(with_memory_bus().text());
  const auto compute = [&](double share) {
    return computing(run(file.path(), NetworkKind::queue, program({2, 2}), memory_bound(share)));
  };
  CHECK(compute(1) == us(1600));
  CHECK(compute(0.5) == us(500 + 500 * 1.6));
  CHECK(compute(0) == us(1000));
}

TEST_CASE("contention's extra time is not the program's own computing") {
  const TemporaryFile file(with_memory_bus().text());
  const auto own = [&](double share) {
    const Tally& whole = run(file.path(), NetworkKind::queue, program({2, 2}), memory_bound(share)).threads[0].whole;
    return spent(whole, Spent::compute) - whole.added_computing;
  };
  for (const double share : {0., 0.5, 1.}) CHECK(own(share) == us(1000));
}

TEST_CASE("the compute factor scales only uncontended computing") {
  const TemporaryFile file(with_memory_bus().text());
  RunOptions options = memory_bound(0.5);
  options.compute_factor = 3;
  CHECK(computing(run(file.path(), NetworkKind::queue, program({2, 2}), options)) == us(3 * 1300));
}

TEST_CASE("a thread alone on its node is not slowed") {
  const TemporaryFile file(with_memory_bus().text());
  CHECK(computing(run(file.path(), NetworkKind::queue, program({4, 1}), memory_bound(1))) == us(1000));
  CHECK(computing(run(program({4, 1}), memory_bound(1))) == us(1000));
}

TEST_CASE("memory-bound computing leaves faults and barriers unchanged") {
  const TemporaryFile file(with_memory_bus().text());
  const Result still = run(file.path(), NetworkKind::queue, program({2, 2}));
  const Result bound = run(file.path(), NetworkKind::queue, program({2, 2}), memory_bound(1));
  CHECK(bound.whole_makespan - still.whole_makespan == us(600));
  for (const FaultRule& rule : fault_rules) {
    for (std::size_t t = 0; t < 4; ++t) {
      CHECK(spent(bound.threads[t].whole, rule.kind) == spent(still.threads[t].whole, rule.kind));
    }
  }
}

TEST_CASE("without a memory-bound share the memory bus changes nothing") {
  const TemporaryFile file(with_memory_bus().text());
  const Result with = run(file.path(), NetworkKind::queue, program({2, 2}));
  const Result without = run(program({2, 2}));
  CHECK(with.whole_makespan == without.whole_makespan);
  CHECK(with.extrapolated == without.extrapolated);
}

TEST_CASE("unmeasured thread counts are extrapolated, a missing bus is refused") {
  PlatformText text = with_memory_bus();
  text.cores = 3;
  text.set("barrier.1x3", "300us");
  const TemporaryFile file(text.text());
  const Result three = run(file.path(), NetworkKind::queue, program({1, 3}), memory_bound(1));
  CHECK(computing(three) == us(2200));  // 1 + 2 * 0.6
  CHECK(three.extrapolated == std::vector<std::string>{"memory-bus"});
  CHECK(run(file.path(), NetworkKind::queue, program({1, 3})).extrapolated.empty());
  CHECK(run(file.path(), NetworkKind::queue, program({1, 2}), memory_bound(1)).extrapolated.empty());
  CHECK_THROWS_AS(run(program({1, 2}), memory_bound(0.1)), std::invalid_argument);
}

TEST_CASE("a re-run reproduces a millisecond of memory-bound computing") {
  PlatformText text = with_memory_bus();
  text.cores = 3;
  text.set("memory-bus.3", "2.5");
  text.set("memory-bus.4", "3");
  const TemporaryFile file(text.text());
  const Platform platform = read_platform(file.path());
  CHECK(replay_memory_bus(platform, NetworkKind::queue, 2, 3) == us(1600));
  CHECK(replay_memory_bus(platform, NetworkKind::queue, 3, 3) == us(2500));
  std::vector<std::string> skipped;
  const auto rows = replay_microbenchmarks(platform, NetworkKind::queue, &skipped, {.groups = {"memory-bus"}});
  REQUIRE(rows.size() == 2);
  CHECK(rows.back().what == "memory-bus.3");
  CHECK(rows.back().given == us(2500));
  CHECK(rows.back().simulated == us(2500));
  CHECK(skipped == std::vector<std::string>{"memory-bus.4"});  // its hosts have three processors
}
