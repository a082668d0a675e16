/// Inline atomic operations and fences: what each way of doing them costs, and what it sends.

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

std::uint64_t messages(const Result& result, std::uint32_t thread, MessageKind kind) {
  return result.threads[thread].whole.messages_by_kind[static_cast<std::size_t>(kind)];
}
Time lock_time(const Result& result, std::uint32_t thread) {
  return spent(result.threads[thread].whole, Spent::lock);
}

/// On the first bytes of a page of region 0, which changes a word.
trace::Event on_page(std::uint64_t page) {
  return {trace::EventKind::atomic, 1, 0, page * trace::page_bytes};
}

/// Thread 1 reads page 0 and writes page 2, both of process 0; does an operation on `page`; reads page 0 again.
Result run_operation(std::uint64_t page, std::optional<Atomics> atomics) {
  TestProgram program({2, 1});
  program.interval(1, 1000, {reads(0), writes(2)}, on_page(page));
  program.interval(1, 1000, {reads(0)}, {trace::EventKind::task});
  RunOptions options;
  options.atomics = atomics;
  return run(p3_score(), NetworkKind::queue, program, options);
}

}  // namespace

TEST_CASE("an operation at home: a trap on an own page, a message each way more on another's. It flushes and drops") {
  for (const bool is_own : {true, false}) {
    const Result result = run_operation(is_own ? 1 : 0, Atomics::home);
    // 8 us: fault.WROH stands in for atomic.own.
    CHECK(lock_time(result, 1) == us(is_own ? 8 : 8 + 2 * (61.66 + 72 * 0.181919)));
    CHECK(std::ranges::count(result.extrapolated, "atomic") == 1);
    CHECK(messages(result, 1, MessageKind::atomic_request) == (is_own ? 0 : 1));
    CHECK(messages(result, 0, MessageKind::atomic_reply) == (is_own ? 0 : 1));
    CHECK(result.threads[1].whole.atomics == 1);
    CHECK(result.threads[1].whole.diffs == 1);
    CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 3);  // with the region's administrative page
  }
}

TEST_CASE("a relaxed operation leaves changes and copies where they are") {
  const Result result = run_operation(0, Atomics::relaxed);
  CHECK(messages(result, 1, MessageKind::atomic_request) == 1);
  CHECK(result.threads[1].whole.diffs == 1);  // at the join
  CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 2);
}

TEST_CASE("p3-score takes a lock, and writes the page under it") {
  const Result result = run_operation(0, std::nullopt);
  CHECK(messages(result, 1, MessageKind::atomic_request) == 0);
  CHECK(messages(result, 1, MessageKind::lock_request) == 0);  // process 1 manages lock 1
  CHECK(result.threads[1].whole.locks == 1);
  CHECK(result.threads[1].whole.atomics == 1);
  CHECK(faults(result.threads[1].whole, FaultKind::WUMR) == 2);
  CHECK(result.threads[1].whole.diffs == 2);
}

TEST_CASE("a reduction as Omni does it: a slot of an administrative page, a barrier, combining, a barrier") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  const Time without = run(p3_score(), NetworkKind::queue, program).whole_makespan;
  for (const std::uint32_t thread : {0, 1}) program.interval(thread, 0, {}, on_page(0));
  const Result result = run(p3_score(), {2, 1}, NetworkKind::queue, [&] {
    Program made = program.finished();
    // Behind the fork, or the region's begin, and the barrier.
    made.reductions.assign(2, {{.interval = 2, .team = 2}});
    return made;
  });
  const Tally& combining = result.threads[0].whole;
  const Tally& giving = result.threads[1].whole;
  CHECK(faults(combining, FaultKind::WROH) == 1 + 2);  // the region's page; its slot, and the result
  CHECK(faults(giving, FaultKind::WUMR) == 1);
  CHECK(faults(giving, FaultKind::RUMR) == 1 + 1);
  CHECK(giving.diffs == 1);
  for (const Tally* tally : {&combining, &giving}) {
    CHECK(tally->barriers == 3 + 2);
    CHECK(tally->locks == 0);
    CHECK(tally->atomics == 0);
  }
  // The slot's fetch and its diff of one word; the result's write; its fetch. Each of the two barriers waits until the
  // home has protected what it wrote.
  const Time diff = us(61.66 + 16 * 0.181919);
  CHECK(result.whole_makespan - without == us(599) + diff + us(8 + 587) + us(2 * (661 + 18.95)));
}

TEST_CASE("a fence flushes and drops, unless operations are relaxed") {
  for (const Atomics atomics : {Atomics::home, Atomics::lock, Atomics::relaxed}) {
    TestProgram program({2, 1});
    program.interval(1, 1000, {reads(0), writes(2)}, {trace::EventKind::fence});
    program.interval(1, 1000, {reads(0)}, {trace::EventKind::task});
    RunOptions options;
    options.atomics = atomics;
    const Result result = run(p3_score(), NetworkKind::queue, program, options);
    CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == (atomics == Atomics::relaxed ? 2 : 3));
    CHECK(result.threads[1].whole.atomics == 1);
  }
}
