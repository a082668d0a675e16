/// The measured region: from the initial thread's first to its last clock reading.

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

/// 1 ms of work, clock, a region of two threads that work 2 ms, clock, 0.5 ms of work.
TestProgram timed_region(unsigned clock_reads_between = 0) {
  TestProgram program({2, 1});
  program.joins = false;
  for (auto& intervals : program.threads) intervals.clear();
  program.clock(0, 1000);
  program.interval(0, 0, {}, {EventKind::fork, 0, 0, 2});
  for (unsigned i = 0; i < clock_reads_between; ++i) program.clock(0, 0);
  program.interval(0, 2000, {}, {EventKind::join, 0, 0, 2});
  program.clock(0, 0);
  program.interval(0, 500, {}, {EventKind::loop_end, 0, 0, 0});
  program.interval(1, 0, {}, {EventKind::team_begin, 0, 0, 2});
  program.clock(1, 700);  // another thread's look means nothing
  program.interval(1, 1300, {}, {EventKind::join, 0, 0, 2});
  return program;
}

// Fork: 8 us to write the region's page, 661 us of barrier, 18.95 us for the written page. The worker then reads it in
// 587 us, so that it is at the join last.
const Time region = us(8 + 661 + 18.95 + 587 + 2000 + 661);

}  // namespace

TEST_CASE("times are the region's, with the whole run beside them") {
  const Result result = run(timed_region(GENERATE(0U, 3U)));
  CHECK(result.makespan == region);
  CHECK(result.whole_makespan == us(1000) + region + us(500));
  const Tally& initial = result.threads[0].region;
  CHECK(initial.total() == region);
  CHECK(spent(initial, Spent::compute) == us(2000));
  CHECK(initial.barriers == 2);
  CHECK(spent(result.threads[0].whole, Spent::compute) == us(3500));
  const Tally& worker = result.threads[1].region;
  CHECK(worker.total() == region);
  CHECK(spent(worker, Spent::idle) == us(8));
  CHECK(spent(result.threads[1].whole, Spent::idle) == us(1000 + 8 + 500));
  CHECK(result.threads[1].whole.total() == result.whole_makespan);
}

TEST_CASE("with --region whole a run is measured from end to end") {
  const Result result = run(timed_region(), {.whole_run = true});
  CHECK(result.makespan == result.whole_makespan);
  CHECK(spent(result.threads[0].region, Spent::compute) == us(3500));
}

TEST_CASE("with fewer than two clock readings everything is measured") {
  TestProgram program({2, 1});
  program.clock(0, 100);
  program.barrier_of_all(100);
  const Result result = run(program);
  CHECK(result.makespan == result.whole_makespan);
}

TEST_CASE("a fault across the region's bound counts with its part inside") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.clock(0, 100);
  program.clock(0, 200);
  program.barrier(0, 1000);
  program.barrier(1, 1000, {reads(0)});  // asked for at the beginning, there after 587 us
  const Result result = run(p3_score(), network, program);
  CHECK(result.makespan == us(200));
  CHECK(spent(result.threads[0].region, Spent::compute) == us(200));
  CHECK(spent(result.threads[1].region, FaultKind::RUMR) == us(200));
  CHECK(result.threads[1].region.total() == us(200));
  CHECK(faults(result.threads[1].region, FaultKind::RUMR) == 0);  // it began before
}

TEST_CASE("page states from before the region hold inside") {
  TestProgram program({2, 1});
  program.interval(1, 0, {reads(2)}, {EventKind::loop_end, 0, 0, 0});
  program.clock(0, 5000);
  program.clock(0, 5000);
  program.barrier_of_all({{5000}, {7000, {reads(2, 200), reads(4, 201)}}});
  const Result result = run(program);
  CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 3);   // the region's page, page 2, page 4
  CHECK(faults(result.threads[1].region, FaultKind::RUMR) == 1);  // page 4 only
}
