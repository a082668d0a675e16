/// Hardware shared memory in simulated time, by hand. The V1280's costs: a barrier of 1, 2, 4, 8 threads takes
/// 0.1, 1.1, 1.8, 2.9 us, a lock 0.2, 0.4, 0.5, 0.5 us.

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

Result simulated(const TestProgram& program) {
  return run(p3_score().parent_path() / "v1280.xml", NetworkKind::queue, program, {.protocol = ProtocolKind::hardware});
}

Time waited(const Result& result, std::uint32_t thread, Spent item) {
  return spent(result.threads[thread].whole, item);
}

/// A fork and the region's join, each a barrier of all.
constexpr int around = 2;

}  // namespace

TEST_CASE("hardware: barriers wait for the last thread, touches are free") {
  TestProgram program({1, 2});
  program.barrier_of_all({{30, {reads(0, 0, 64)}}, {100, {writes(0, 0, 64)}}});
  const Result result = simulated(program);
  CHECK(result.makespan == us(100 + (1 + around) * 1.1));
  CHECK(waited(result, 0, Spent::barrier) == us(70 + (1 + around) * 1.1));
  CHECK(waited(result, 1, Spent::barrier) == us((1 + around) * 1.1));
  for (const ThreadResult& thread : result.threads) {
    CHECK(thread.whole.faults == decltype(thread.whole.faults){});
    CHECK(thread.whole.messages == 0);
    CHECK(thread.whole.diffs == 0);
    CHECK(thread.whole.barriers == 1 + around);
  }
  CHECK(result.extrapolated.empty());
}

TEST_CASE("hardware: barrier costs are interpolated between measured thread counts") {
  const auto makespan = [](std::uint32_t threads) {
    TestProgram program({1, threads});
    program.barrier_of_all(10);
    return simulated(program);
  };
  CHECK(makespan(4).makespan == us(10 + 3 * 1.8));
  CHECK(makespan(3).makespan == us(10 + 3 * 1.45));
  CHECK(makespan(3).extrapolated == std::vector<std::string>{"barrier"});
  CHECK(makespan(12).makespan == us(10 + 3 * (2.9 + 4 * (2.9 - 1.8) / 4)));
  CHECK(makespan(1).makespan == us(10 + 3 * 0.1));
}

TEST_CASE("hardware: a lock costs less if the thread had it last") {
  TestProgram program({1, 4});
  program.acquire(0, 7, 10);  // granted at 10.2, nobody had it
  program.release(0, 7, 20);  // at 30.2
  program.acquire(0, 7, 1);   // at 31.2: thread 2 has it from 30.7 to 35.7, thread 1 from 36.2 to 41.2; granted at 41.7
  program.release(0, 7, 5);
  program.acquire(1, 7, 15);
  program.release(1, 7, 5);
  program.acquire(2, 7, 12);
  program.release(2, 7, 5);
  program.acquire(3, 9, 1);
  program.release(3, 9, 1);
  program.acquire(3, 9, 1);
  program.release(3, 9, 1);
  const Result result = simulated(program);
  CHECK(waited(result, 0, Spent::lock) == us(0.2 + (41.7 - 31.2)));
  CHECK(waited(result, 1, Spent::lock) == us(36.2 - 15));
  CHECK(waited(result, 2, Spent::lock) == us(30.7 - 12));
  CHECK(waited(result, 3, Spent::lock) == us(0.2 + 0.2));
  CHECK(result.threads[0].whole.locks == 2);
  CHECK(result.threads[3].whole.locks == 2);
}

TEST_CASE("hardware: EPCC's lock loop reproduces its measured overhead") {
  TestProgram program({1, 4});
  constexpr int repetitions = 25;
  for (int i = 0; i < repetitions; ++i) {
    for (std::uint32_t t = 0; t < 4; ++t) {
      program.acquire(t, 1);
      program.release(t, 1, 10);
    }
  }
  // The first grant is of a lock that nobody had.
  CHECK(simulated(program).makespan == us(4 * repetitions * 10.5 - 0.3 + around * 1.8));
}

TEST_CASE("hardware: flags and awaited stores cost a cache line's hand-off") {
  TestProgram program({1, 2});
  program.interval(0, 50, {}, {EventKind::post, 0, 3, 1});
  program.interval(0, 50, {}, {EventKind::post, 0, 3, 2});
  program.interval(1, 10, {}, {EventKind::wait, 0, 3, 1});
  program.interval(1, 100, {}, {EventKind::wait, 0, 3, 2});
  const Result result = simulated(program);
  CHECK(waited(result, 1, Spent::lock) == us(40 + 0.4 + 0.4));
  CHECK(result.threads[1].whole.locks == 2);

  TestProgram spinning({1, 2});
  spinning.barrier(0, 60);
  spinning.interval(1, 10, {}, {EventKind::spin, 0, 0, 2});  // its second event, the first is the fork
  spinning.barrier(1, 1);
  const Result spun = run(p3_score().parent_path() / "v1280.xml", {1, 2}, NetworkKind::queue,
                          [&] {
                            sim::Program made = spinning.finished();
                            made.has_spins = true;
                            return made;
                          },
                          {.protocol = ProtocolKind::hardware});
  CHECK(waited(spun, 1, Spent::lock) == us(50 + 0.4));
}

TEST_CASE("hardware: an unmeasured atomic costs a hand-off, marked as extrapolated") {
  TestProgram program({1, 2});
  program.interval(0, 10, {}, {EventKind::atomic, 1, 0, 64});
  program.interval(0, 10, {}, {EventKind::fence, 0, 0, 0});
  const Result result = simulated(program);
  CHECK(waited(result, 0, Spent::lock) == us(0.4));
  CHECK(result.threads[0].whole.atomics == 2);
  CHECK(result.extrapolated == std::vector<std::string>{"atomic"});
}

TEST_CASE("hardware shared memory has one node, and costs of its own") {
  CHECK_THROWS_WITH(simulated(TestProgram({2, 2})), ContainsSubstring("2 nodes under protocol hardware") &&
                                                        ContainsSubstring("--nodes 1 --threads-per-node 4"));
  CHECK_THROWS_WITH(run(TestProgram({1, 2}), {.protocol = ProtocolKind::hardware}),
                    ContainsSubstring("no costs for protocol hardware (it has scash)"));
}

TEST_CASE("hardware: ordered regions run in their turns") {
  TestProgram program({1, 4});
  for (const std::uint64_t turn : {1, 2}) program.ordered(0, turn, 20, 5);  // at 20.2 to 25.2, 45.4 to 50.4
  program.ordered(1, 3, 10, 5);
  const Result result = simulated(program);
  CHECK(waited(result, 1, Spent::lock) == us(50.4 + 0.5 - 10));
}
