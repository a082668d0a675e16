/// Programs that cannot end: the run fails and says where each thread was.

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

std::string failure(NetworkKind network, const TestProgram& program) {
  CHECK_THROWS_AS(run(p3_score(), network, program), RunError);
  return error_text([&] { run(p3_score(), network, program); });
}

}  // namespace

TEST_CASE("a missing barrier stops the run and names each waiting thread") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  TestProgram program({4, 1});
  program.barrier_of_all(10);
  for (std::uint32_t t = 0; t < 3; ++t) program.barrier(t, 10);
  program.joins = false;
  const std::string said = failure(network, program);
  CHECK(contains(said, "thread 0: waiting after 2 intervals, last event 'barrier'"));
  CHECK(contains(said, "thread 2: waiting"));
  CHECK_FALSE(contains(said, "thread 3"));  // it went on to its end
}

TEST_CASE("a lock that is never released stops its waiters") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  TestProgram program({2, 1});
  program.acquire(0, 5);
  program.barrier(0);
  program.acquire(1, 5, 1000);
  program.barrier(1);
  const std::string said = failure(network, program);
  CHECK(contains(said, "'acquire' (object 5"));
}

TEST_CASE("a program's end within a region releases locks to earlier holders") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const std::uint64_t lock = GENERATE(0, 1);
  TestProgram program({2, 1});
  program.joins = false;
  program.ended_by = ProcessId{1};
  program.acquire(0, lock);
  program.interval(0, 500, {}, {EventKind::flush});
  program.acquire(1, lock, 100);
  program.release(1, lock, 200);
  const Result result = run(p3_score(), network, program);
  CHECK(spent(result.threads[0].whole, Spent::compute) == us(500));
  CHECK(spent(result.threads[1].whole, Spent::compute) == us(300));
  CHECK(result.makespan >= us(700));
}

TEST_CASE("threads that the program's end stops cause no deadlock") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const auto semaphore = static_cast<std::uint8_t>(ObjectClass::semaphore);
  TestProgram program({2, 1});
  program.joins = false;
  program.interval(0, 0, {}, {EventKind::give, semaphore, 0, 0});
  program.interval(0, 0, {}, {EventKind::take, semaphore, 0, 0});
  program.interval(1, 5000, {}, {EventKind::take, semaphore, 0, 0});
  program.interval(1, 0, {}, {EventKind::give, semaphore, 0, 0});
  // If it is the program's end that does not come, that is no prediction.
  program.ended_by = GENERATE(std::optional<ProcessId>{}, ProcessId{1});
  const std::string said = failure(network, program);
  CHECK(contains(said, "thread 1: waiting"));
  CHECK(contains(said, "last event 'take'"));
  CHECK_FALSE(contains(said, "thread 0"));

  program.ended_by = ProcessId{0};
  const Result result = run(p3_score(), network, program);
  CHECK(result.makespan == result.threads[0].whole.total());
  CHECK(result.makespan < us(5000));
}

TEST_CASE("a program ended by a thread, and others' work, last until then") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  TestProgram program({3, 1});
  program.joins = false;
  program.ended_by = ProcessId{0};
  program.interval(0, 1500, {}, {EventKind::loop_end});
  program.interval(1, 5000, {}, {EventKind::loop_end});  // computes
  program.acquire(0, 0);
  program.acquire(2, 0, 100);                                 // waits
  program.interval(1, 0, {}, {EventKind::barrier, 0, 0, 3});  // never
  const Result result = run(p3_score(), network, program);
  // The fork comes before, at which some threads are let go later.
  const Tally& ends = result.threads[0].whole;
  CHECK(result.makespan == ends.total());
  CHECK(spent(ends, Spent::compute) == us(1500));
  const Tally& computes = result.threads[1].whole;
  CHECK(computes.total() == result.makespan);
  CHECK(spent(computes, Spent::idle) < us(10));  // before the fork
  CHECK(spent(computes, Spent::compute) > us(500));
  CHECK(spent(computes, Spent::compute) < us(1500));
  const Tally& waits = result.threads[2].whole;
  CHECK(spent(waits, Spent::idle) > Time{});
  CHECK(waits.total() == result.makespan);
}

TEST_CASE("the program's end counts only the faults that were over") {
  TestProgram program({2, 1});
  program.joins = false;
  program.ended_by = ProcessId{0};
  program.pages = 400;
  program.interval(0, 1500, {}, {EventKind::loop_end});
  program.interval(1, 0, {writes(0, 0, 400)}, {EventKind::loop_end});  // each second one its own: 8 us
  const Result result = run(program);
  const Tally& whole = result.threads[1].whole;
  const Time took = spent(whole, spent_on(FaultKind::WROH));
  CHECK(whole.total() == result.makespan);
  const std::uint64_t faults = whole.faults[static_cast<std::size_t>(FaultKind::WROH)];
  CHECK(faults > 0);
  CHECK(static_cast<std::int64_t>(faults) == took / us(8));
}

TEST_CASE("a thread that ends the program with a lock sends nothing") {
  TestProgram program({2, 1});
  program.joins = false;
  program.ended_by = ProcessId{1};
  const bool has_lock = GENERATE(false, true);
  if (has_lock) program.acquire(1, 0);
  program.interval(1, 100, {writes(0, 0, 1)}, {EventKind::loop_end});
  const Result result = run(program);
  CHECK(result.threads[1].whole.diffs == 0);
}

TEST_CASE("two locks taken in opposite orders deadlock") {
  TestProgram program({2, 1});
  program.acquire(0, 0);
  program.acquire(0, 1, 1000);
  program.acquire(1, 1);
  program.acquire(1, 0, 1000);
  const std::string said = failure(NetworkKind::queue, program);
  CHECK(contains(said, "threads take locks in different orders"));
  CHECK(contains(said, "Let all threads take them in one order"));
  CHECK(contains(said, "thread 0: waiting"));
  CHECK(contains(said, "thread 1: waiting"));
}

TEST_CASE("two locks tried in opposite orders do not deadlock") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  TestProgram program({2, 1});
  for (std::uint32_t t = 0; t < 2; ++t) {
    program.acquire(t, t);
    program.acquire_at_a_try(t, 1 - t, 5000);
    program.release(t, 1 - t, 1000);
    program.release(t, t);
  }
  const Result result = run(p3_score(), network, program);
  // The first to try releases its lock and waits for the other, and the other thread finds the first lock free.
  const auto [less, more] = std::minmax(result.threads[0].whole.locks, result.threads[1].whole.locks);
  CHECK(less == 2);
  CHECK(more == 3);
}

TEST_CASE("threads without locks of that kind wait for a tried one") {
  TestProgram program({2, 1});
  const bool is_in_critical = GENERATE(false, true);
  program.acquire(0, 0);
  program.release(0, 0, 5000);
  if (is_in_critical) program.interval(1, 0, {}, {EventKind::acquire, 2, 7, 0});
  program.acquire_at_a_try(1, 0, 1000);
  program.release(1, 0, 10);
  if (is_in_critical) program.interval(1, 0, {}, {EventKind::release, 2, 7, 0});
  const Result result = run(program);
  CHECK(result.threads[1].whole.locks == (is_in_critical ? 2 : 1));
  CHECK(spent(result.threads[1].whole, Spent::lock) >= from_seconds(3e-3));
}

TEST_CASE("philosophers that try for the second fork all eat") {
  const std::uint32_t count = GENERATE(3U, 5U, 8U);
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  TestProgram program({count, 1});
  for (std::uint32_t t = 0; t < count; ++t) {
    for (int meal = 0; meal < 3; ++meal) {
      program.acquire(t, t, 100);
      program.acquire_at_a_try(t, (t + 1) % count, 3000);
      program.release(t, (t + 1) % count, 500);
      program.release(t, t);
    }
  }
  const Result result = run(p3_score(), network, program);
  for (const auto& thread : result.threads) CHECK(thread.whole.locks >= 6);
}

TEST_CASE("a thread that only tries never deadlocks, at any moment") {
  // A lock that was free when the thread looked must be its own before another's request reaches the manager.
  const std::uint32_t threads = GENERATE(2U, 3U);
  for (double late_us = 0; late_us < 1500; late_us += 12.5) {
    CAPTURE(late_us);
    TestProgram program({threads, 1});
    program.acquire(0, 0, 500);
    program.acquire_at_a_try(0, 1, 300);
    program.release(0, 1, 100);
    program.release(0, 0);
    for (std::uint32_t t = 1; t < threads; ++t) {
      program.acquire(t, 1, late_us + 50 * (t - 1));
      program.acquire(t, 0, 20);
      program.release(t, 0, 100);
      program.release(t, 1);
    }
    CHECK(run(program).threads[0].whole.locks >= 2);
  }
}

TEST_CASE("a thread that takes a lock again competes with nobody") {
  TestProgram program({3, 1});
  program.acquire(0, 1);
  for (int turn = 0; turn < 5; ++turn) {
    program.acquire_at_a_try(0, 2, 1);
    program.release(0, 2);
  }
  program.release(0, 1);
  for (std::uint32_t t = 1; t < 3; ++t) program.barrier(t);
  program.barrier(0);
  CHECK(run(program).threads[0].whole.locks == 6);
}

TEST_CASE("a lock that another thread released is not released twice") {
  // Thread 1 gives back lock 0, which thread 2 has then while thread 0 backs off.
  TestProgram program({4, 1});
  program.acquire(0, 0);
  program.release(1, 0, 3000);
  program.acquire(2, 0, 4000);
  program.release(2, 0, 20'000);
  program.acquire(3, 1);
  program.release(3, 1, 12'000);
  program.acquire_at_a_try(0, 1, 8000);
  program.release(0, 1);
  program.acquire(1, 0, 9000);
  program.release(1, 0);
  const Result result = run(program);
  CHECK(result.threads[0].whole.locks == 2);
  CHECK(spent(result.threads[1].whole, Spent::lock) >= from_seconds(9e-3));  // as long as thread 2 has it
}

TEST_CASE("a retry releases locks taken together, but no earlier ones") {
  // Thread 1 has lock 3. Thread 0 holds lock 0, then wants 1, 2 and 3 together; thread 2 waits for 1 meanwhile.
  TestProgram program({4, 1});
  program.acquire(0, 0);
  program.acquire(0, 1, 2000);
  program.acquire_at_a_try(0, 2);
  program.acquire_at_a_try(0, 3);
  for (const std::uint64_t lock : {3, 2, 1, 0}) program.release(0, lock, 1000);
  program.acquire(1, 3);
  program.acquire(1, 2, 20'000);
  program.release(1, 2);
  program.release(1, 3);
  program.acquire(2, 1, 10'000);
  program.release(2, 1);
  program.acquire(3, 0, 10'000);
  program.release(3, 0);
  const Result result = run(program);
  CHECK(result.threads[0].whole.locks == 6);                                  // 1 and 2 twice
  CHECK(spent(result.threads[2].whole, Spent::lock) < from_seconds(8e-3));    // lock 1 is free again
  CHECK(spent(result.threads[3].whole, Spent::lock) >= from_seconds(10e-3));  // lock 0 is not
}

TEST_CASE("a barrier of an impossible team is refused") {
  const std::uint64_t team = GENERATE(0U, 1000U);
  TestProgram program({2, 1});
  for (std::uint32_t t = 0; t < 2; ++t) program.interval(t, 10, {}, {EventKind::barrier, 0, 0, team});
  CHECK(contains(failure(NetworkKind::queue, program), "teams do not match"));
}

TEST_CASE("a thread at another team's barrier is refused") {
  TestProgram program({4, 1});
  program.interval(3, 10, {}, {EventKind::barrier, 0, 0, 2});
  CHECK(contains(failure(NetworkKind::queue, program), "thread 3 is at a barrier of 2 threads"));
}

TEST_CASE("threads at barriers of different teams wait for ever") {
  TestProgram program({4, 1});
  program.interval(0, 10, {}, {EventKind::barrier, 0, 0, 2});
  program.interval(1, 10, {}, {EventKind::barrier, 0, 0, 3});
  program.interval(2, 10, {}, {EventKind::barrier, 0, 0, 3});
  CHECK(contains(failure(NetworkKind::queue, program), "waiting"));
}

TEST_CASE("threads at barriers of different gangs or sizes wait for ever") {
  const std::uint32_t gang = GENERATE(1U, 2U);
  TestProgram program({2, 1});
  program.interval(0, 10, {}, {EventKind::barrier, 0, 0, 2, 1});
  program.interval(1, 10, {}, {EventKind::barrier, 0, 0, gang == 1 ? 3U : 2U, gang});
  CHECK(contains(failure(NetworkKind::queue, program), "waiting"));
}

TEST_CASE("a source that fails halfway ends the run with its error") {
  class FailingSource final : public IntervalSource {
   public:
    const trace::Interval* next() override {
      if (++calls_ == 3) throw std::invalid_argument("the file is damaged at byte 77");
      return &interval_;
    }

   private:
    int calls_ = 0;
    trace::Interval interval_{1000, {}, {EventKind::loop_end, 0, 0, 0}};
  };
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  const auto program = [] {
    TestProgram healthy({2, 1});
    Program made = healthy.finished();
    made.sources[1] = std::make_unique<FailingSource>();
    return made;
  };
  CHECK_THROWS_WITH(run(p3_score(), {2, 1}, network, program), ContainsSubstring("byte 77"));
}

TEST_CASE("a layout that exceeds the platform is bad input") {
  TestProgram many({9, 1}), wide({1, 3});
  CHECK_THROWS_AS(run(many), std::invalid_argument);
  CHECK_THROWS_AS(run(wide), std::invalid_argument);
}
