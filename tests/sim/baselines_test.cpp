/// Predictions without queues: by hand, and against simulations in which nobody queues.

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

Result simulated(const TestProgram& program, const RunOptions& options = {}) {
  return run(program, options);
}

Result under_jiajia(const TestProgram& program, const jiajia::Rules& rules = {.scope = jiajia::Scope::openmp}) {
  const RunOptions options{.protocol = ProtocolKind::jiajia, .jiajia = rules};
  return run(p3_score().parent_path() / "p3-jiajia.xml", NetworkKind::queue, program, options);
}

Result on_hardware(const TestProgram& program) {
  return run(p3_score().parent_path() / "v1280.xml", NetworkKind::queue, program, {.protocol = ProtocolKind::hardware});
}

}  // namespace

TEST_CASE("the counts baseline has no waits, the critical path those at barriers") {
  TestProgram program({2, 1});
  program.barrier_of_all({{1000}, {3000}});
  program.barrier_of_all({{3000}, {1000}});
  const Result result = simulated(program);
  // Fork, two barriers, join: 661 us each. Thread 0 writes the region's page (8 us) and protects it again (18.95 us);
  // thread 1 reads it (587 us).
  CHECK(result.baselines.counts == us(4 * 661 + 587 + 1000 + 3000));
  CHECK(result.baselines.critical_path == us(4 * 661 + 8 + 18.95 + 587 + 3000 + 3000));
  CHECK(result.whole_makespan == result.baselines.critical_path);
}

TEST_CASE("two fetches from one home queue only in the simulation") {
  TestProgram program({4, 1});
  program.barrier_of_all({{1000}, {1000, {reads(0)}}, {1000, {reads(0)}}, {1000}});
  const Result result = simulated(program);
  // All workers read the region's page, two then page 0: 587 us each from process 0. A barrier of four takes 7305 us.
  CHECK(result.baselines.counts == us(3 * 7305 + 2 * 587 + 1000));
  CHECK(result.baselines.critical_path == us(3 * 7305 + 8 + 18.95 + 2 * 587 + 1000));
  CHECK(result.whole_makespan > result.baselines.critical_path);
}

TEST_CASE("without queues, the critical path is the makespan") {
  TestProgram program({2, 1});
  program.barrier_of_all(2000);
  SECTION("diffs, of a word and of a whole page") {
    program.barrier_of_all({{20'000}, {30'000, {writes(0), writes(2, 100, 1, {1024, 1})}}});
  }
  SECTION("pages of the own home that are written") {
    program.barrier_of_all({{30'000, {writes(0, 0, 1), writes(2)}}, {20'000}});
  }
  SECTION("a lock that one thread takes") {
    program.acquire(1, 5, 30'000);
    program.release(1, 5, 10, {writes(0)});
    program.barrier_of_all({{20'000}, {}});
  }
  SECTION("an atomic operation at another node") {
    program.interval(1, 30'000, {}, {EventKind::atomic, 1, 0, 0});
    program.barrier_of_all({{20'000}, {}});
  }
  const Result result = simulated(program);
  CHECK(result.baselines.critical_path == result.whole_makespan);
  CHECK(result.baselines.counts < result.whole_makespan);
}

TEST_CASE("neither baseline has waits for a lock") {
  TestProgram program({2, 1});
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    program.acquire(thread, 5, thread == 0 ? 100 : 200);
    program.release(thread, 5, 50'000);
    program.barrier(thread);
  }
  const Result result = simulated(program);
  CHECK(result.baselines.critical_path < us(60'000));
  CHECK(result.whole_makespan > us(100'000));
}

TEST_CASE("baselines cover the measured region") {
  TestProgram program({2, 1});
  program.clock(0, 100);
  program.barrier_of_all(1000);
  program.clock(0, 100);
  const Result result = simulated(program);
  // Thread 1 comes to the barrier 587 us (the region's page) and 1000 us after the fork, of which 100 us are before
  // the region.
  CHECK(result.makespan == us(587 + 1000 + 661));
  CHECK(result.baselines.critical_path == result.makespan);
  CHECK(result.baselines.counts == result.makespan);
}

TEST_CASE("jitter changes no baseline") {
  TestProgram program({2, 1});
  program.barrier_of_all({{1000}, {1000, {reads(0), writes(2)}}});
  const Result plain = simulated(program), jittered = simulated(program, {.jitter = 0.5});
  CHECK(plain.baselines.critical_path == jittered.baselines.critical_path);
  CHECK(plain.baselines.counts == jittered.baselines.counts);
}

TEST_CASE("JIAJIA: without queues, the critical path is the makespan") {
  TestProgram program({2, 1});
  program.barrier_of_all(2000);
  jiajia::Rules rules{.scope = jiajia::Scope::openmp};
  SECTION("diffs and notices of one thread") {
    program.barrier_of_all({{20'000}, {30'000, {writes(0), writes(2, 100, 8, {1024, 1})}}});
    program.barrier_of_all({{5000, {reads(0)}}, {}});
  }
  SECTION("copies that become invalid are protected") {
    program.barrier_of_all({{20'000, {writes(0, 0, 1), writes(2)}}, {30'000, {reads(0), reads(2)}}});
    program.barrier_of_all({{20'000, {writes(0, 0, 1), writes(2)}}, {60'000}});
  }
  SECTION("a lock that one thread takes") {
    program.acquire(1, 4, 30'000);
    program.release(1, 4, 10, {writes(0)});
    program.barrier_of_all({{20'000}, {}});
  }
  SECTION("a fork by a message to all") {
    rules.fork_by_broadcast = true;
    program.barrier_of_all({{20'000}, {30'000, {writes(0)}}});
  }
  const Result result = under_jiajia(program, rules);
  CHECK(result.baselines.critical_path == result.whole_makespan);
  CHECK(result.baselines.counts <= result.whole_makespan);
  CHECK(result.baselines.counts > us(30'000));
}

TEST_CASE("JIAJIA: fetches and arrivals queue only in the simulation") {
  TestProgram program({4, 1});
  program.barrier_of_all({{1000}, {1000, {reads(0)}}, {1000, {reads(0)}}, {1000}});
  const Result result = under_jiajia(program);
  CHECK(result.whole_makespan > result.baselines.critical_path);
  CHECK(result.baselines.critical_path >= result.baselines.counts);
}

TEST_CASE("JIAJIA: baselines leave out work after the region's last barrier") {
  // Thread 1 alone writes pages of process 0, which move to it at the last barrier: there it protects them.
  TestProgram program({2, 1});
  program.clock(0);
  program.barrier(0);
  std::vector<trace::TouchRun> writing;
  for (std::uint64_t page = 0; page < 62; page += 2) writing.push_back(writes(page));
  program.barrier(1, 50'000, writing);
  program.clock(0);
  const Result result = under_jiajia(program, {.home_migration = true, .scope = jiajia::Scope::openmp});
  CHECK(result.baselines.counts > us(50'000));
  CHECK(result.baselines.counts <= result.baselines.critical_path);
}

TEST_CASE("hardware: baselines have barrier waits and cache lines, no lock waits") {
  TestProgram program({1, 2});
  program.barrier_of_all({{1000}, {3000}});
  program.barrier_of_all({{3000}, {1000}});
  const Result plain = on_hardware(program);
  // Fork, two barriers, join: 1.1 us each.
  CHECK(plain.baselines.counts == us(4 * 1.1 + 4000));
  CHECK(plain.baselines.critical_path == us(4 * 1.1 + 6000));
  CHECK(plain.whole_makespan == plain.baselines.critical_path);

  TestProgram locks({1, 2});
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    locks.acquire(thread, 5, thread == 0 ? 100 : 200);
    locks.release(thread, 5, 50'000);
    locks.barrier(thread);
  }
  const Result locked = on_hardware(locks);
  // Thread 0 takes the lock first, for 0.2 us; its cache line then goes to thread 1, for 0.4 us.
  CHECK(locked.baselines.counts == us(200 + 50'000 + 0.4 + 3 * 1.1));
  CHECK(locked.baselines.critical_path == locked.baselines.counts);
  CHECK(locked.whole_makespan > us(100'000));
}

TEST_CASE("a recorded order's baselines have no waits for turns") {
  using enum trace::OrderKind;
  constexpr std::uint32_t administrative = 2;
  const auto event = [](std::uint32_t process, trace::OrderKind kind, std::uint32_t object = 0,
                        std::uint64_t value = 0) {
    return trace::OrderEvent{ProcessId{process}, kind, object, value};
  };
  TestProgram program({2, 1});
  program.acquire(0, 0, 10);
  program.release(0, 0, 10);
  program.acquire(1, 0, 50'000);
  program.release(1, 0, 10);
  // Thread 1 had the lock first.
  const std::vector<std::vector<trace::OrderEvent>> nodes{
      {event(0, write, administrative), event(0, barrier), event(0, ask), event(0, take, 0, 1), event(0, drop),
       event(0, give), event(0, barrier)},
      {event(1, barrier), event(1, read, administrative), event(1, ask), event(1, take, 0, 0), event(1, drop),
       event(1, give), event(1, barrier)}};
  const Result freely = simulated(program);
  const Result in_order = run(p3_score(), program.layout(), NetworkKind::queue, [&] {
    Program finished = program.finished();
    finished.order = trace::Order{program.layout(), nodes};
    return finished;
  });
  CHECK(in_order.baselines.counts == freely.baselines.counts);
  CHECK(in_order.baselines.critical_path == freely.baselines.critical_path);
  CHECK(in_order.whole_makespan > in_order.baselines.critical_path);
}
