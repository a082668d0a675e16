/// Programs that cannot end: the run fails and says where each thread was.

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;
using trace::EventKind;

namespace {

/// The text of the RunError that the run ends with.
std::string failure(NetworkKind network, const TestProgram& program) {
  try {
    run(p3_score(), network, program);
  } catch (const RunError& error) {
    return error.what();
  }
  FAIL("the run did not fail");
  return {};
}

}  // namespace

TEST_CASE("a barrier that one thread leaves out stops the run, which says who waits where") {
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

TEST_CASE("a lock that is never given back stops who waits for it") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  TestProgram program({2, 1});
  program.acquire(0, 5);
  program.barrier(0);
  program.acquire(1, 5, 1000);
  program.barrier(1);
  const std::string said = failure(network, program);
  CHECK(contains(said, "'acquire' (object 5"));
}

TEST_CASE("two locks taken in opposite orders stop both threads") {
  TestProgram program({2, 1});
  program.acquire(0, 0);
  program.acquire(0, 1, 1000);
  program.acquire(1, 1);
  program.acquire(1, 0, 1000);
  const std::string said = failure(NetworkKind::queue, program);
  CHECK(contains(said, "threads that held a lock tried for another"));
  CHECK(contains(said, "Let all threads take these locks in one order"));
  CHECK(contains(said, "thread 0: waiting"));
  CHECK(contains(said, "thread 1: waiting"));
}

TEST_CASE("a barrier of a team that cannot be is refused") {
  const std::uint64_t team = GENERATE(0U, 1000U);
  TestProgram program({2, 1});
  for (std::uint32_t t = 0; t < 2; ++t) program.interval(t, 10, {}, {EventKind::barrier, 0, 0, team});
  CHECK(contains(failure(NetworkKind::queue, program), "teams do not match"));
}

TEST_CASE("a thread at the barrier of a team to which it does not belong is refused") {
  TestProgram program({4, 1});
  program.interval(3, 10, {}, {EventKind::barrier, 0, 0, 2});
  CHECK(contains(failure(NetworkKind::queue, program), "thread 3 is at a barrier of 2 threads"));
}

TEST_CASE("threads that come to barriers of different teams wait for ever") {
  TestProgram program({4, 1});
  program.interval(0, 10, {}, {EventKind::barrier, 0, 0, 2});
  program.interval(1, 10, {}, {EventKind::barrier, 0, 0, 3});
  program.interval(2, 10, {}, {EventKind::barrier, 0, 0, 3});
  CHECK(contains(failure(NetworkKind::queue, program), "waiting"));
}

TEST_CASE("threads that come to barriers of different gangs, or of one of another size, wait for ever") {
  const std::uint32_t gang = GENERATE(1U, 2U);
  TestProgram program({2, 1});
  program.interval(0, 10, {}, {EventKind::barrier, 0, 0, 2, 1});
  program.interval(1, 10, {}, {EventKind::barrier, 0, 0, gang == 1 ? 3U : 2U, gang});
  CHECK(contains(failure(NetworkKind::queue, program), "waiting"));
}

TEST_CASE("a source that fails in the middle ends the run with its error") {
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

TEST_CASE("a layout that the platform has no room for is bad input") {
  TestProgram many({9, 1}), wide({1, 3});
  CHECK_THROWS_AS(run(p3_score(), NetworkKind::queue, many), std::invalid_argument);
  CHECK_THROWS_AS(run(p3_score(), NetworkKind::queue, wide), std::invalid_argument);
}
