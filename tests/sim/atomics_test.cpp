/// Inline atomic operations and fences: costs and messages of each implementation.

#include <algorithm>
#include <vector>

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

/// On the first bytes of a page of region 0, which changes a word.
Event on_page(std::uint64_t page) {
  return {EventKind::atomic, 1, 0, page * page_bytes};
}

/// Thread 1 reads page 0 and writes page 2, both of process 0; does an operation on `page`; reads page 0 again.
Result run_operation(std::uint64_t page, std::optional<Atomics> atomics) {
  TestProgram program({2, 1});
  program.interval(1, 1000, {reads(0), writes(2)}, on_page(page));
  program.interval(1, 1000, {reads(0)}, {EventKind::task});
  return run(program, {.atomics = atomics});
}

}  // namespace

TEST_CASE("an operation at home: its messages, trap, flush and drop") {
  for (const bool is_own : {true, false}) {
    const Result result = run_operation(is_own ? 1 : 0, Atomics::home);
    // 8 us: fault.WROH replaces atomic.own. Then the thread goes on, and asks the other node to enter single-writer
    // mode.
    CHECK(lock_time(result, 1) == us(2 * 27.6 + (is_own ? 8 : 8 + 2 * (61.66 + 72 * 0.181919))));
    CHECK(std::ranges::count(result.extrapolated, "atomic") == 1);
    CHECK(messages(result, 1, MessageKind::atomic_request) == (is_own ? 0 : 1));
    CHECK(messages(result, 0, MessageKind::atomic_reply) == (is_own ? 0 : 1));
    CHECK(result.threads[1].whole.atomics == 1);
    CHECK(result.threads[1].whole.diffs == 1);
    CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 3);  // with the region's administrative page
  }
}

TEST_CASE("after an operation, other pages' copies and changes stay until a barrier") {
  for (const bool is_on_read : {false, true}) {
    TestProgram program({2, 1});
    // Pages of process 0: page 0 is read, page 2 gets thread 1's stores, and page 4.
    for (int i = 0; i < 10; ++i) program.interval(1, 1000, {reads(0), writes(2)}, on_page(is_on_read ? 0 : 4));
    program.interval(1, 1000, {}, {EventKind::task});
    const Result result = run(program, {.atomics = Atomics::home});
    const Tally& thread = result.threads[1].whole;
    CHECK(thread.atomics == 10);
    // Each is fetched once before single-writer mode, which drops it, and once in it. The operation leaves the copies.
    CHECK(faults(thread, FaultKind::RUMR) == 3);
    CHECK(faults(thread, FaultKind::WUMR) == 2);
    CHECK(thread.diffs == 2);
    CHECK(result.baselines.critical_path == result.whole_makespan);  // nothing queues
  }
}

TEST_CASE("a thread that goes on in single-writer mode drops nobody's copies") {
  const auto fetches = [](bool goes_on_later) {
    TestProgram program({2, 1});
    program.interval(1, 1000, {}, on_page(6));
    program.interval(1, 1000, {reads(0)}, {EventKind::task});
    program.interval(1, 40'000, {reads(2, 255)}, {EventKind::task});
    program.interval(1, 1000, {reads(0)}, {EventKind::task});
    program.interval(0, 1000, {}, on_page(4));  // its own: it is ahead of the other
    program.interval(0, 20'000, goes_on_later ? std::vector{reads(1, 255)} : std::vector<trace::TouchRun>{},
                     {EventKind::task});
    return faults(run(program, {.atomics = Atomics::home}).threads[1].whole, FaultKind::RUMR);
  };
  CHECK(fetches(true) == fetches(false));
}

TEST_CASE("after a full barrier, each operation drops copies again") {
  TestProgram program({2, 1});
  for (int round = 0; round < 2; ++round) {
    program.interval(1, 1000, {reads(0)}, on_page(4));
    program.interval(1, 1000, {reads(0)}, on_page(4));
    program.interval(1, 1000, {reads(0)}, on_page(4));
    program.barrier_of_all();
  }
  const Result result = run(program, {.atomics = Atomics::home});
  CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 1 + 2 * 2);
}

TEST_CASE("single-writer mode moves a changed page whole, in two messages' time") {
  // In single-writer mode, thread 1 stores to page 0 of process 0, and thread 2 reads it later.
  const auto simulate = [](bool stores) {
    TestProgram program({3, 1});
    program.interval(1, 100, {}, on_page(6));
    program.interval(1, 100, stores ? std::vector{writes(0)} : std::vector{reads(0)}, {EventKind::task});
    program.interval(2, 20000, {}, {EventKind::task});
    program.interval(2, 100, {reads(0)}, {EventKind::task});
    return run(program, {.atomics = Atomics::home});
  };
  const Result read = simulate(false);
  const Result written = simulate(true);
  CHECK(read.threads[1].whole.diffs == 0);
  CHECK(written.threads[1].whole.diffs == 1);
  CHECK(written.threads[1].whole.diff_bytes == 4096);
  CHECK(messages(written, 1, MessageKind::diff) == 1);
  const auto fetches = [](const Result& result) { return spent(result.threads[2].whole, spent_on(FaultKind::RUMR)); };
  // A control message to the node and the page back, each as long as a diff of its length.
  const Time downgrade = fetches(written) - fetches(read);
  CHECK(std::chrono::abs(downgrade - us(2 * 61.66 + (32 + 4096) * 0.181919)) <= 1ns);
}

TEST_CASE("a relaxed operation keeps changes and copies") {
  const Result result = run_operation(0, Atomics::relaxed);
  CHECK(messages(result, 1, MessageKind::atomic_request) == 1);
  CHECK(result.threads[1].whole.diffs == 1);  // at the join
  CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 2);
}

TEST_CASE("atomic operations on p3-score take a lock and write the page") {
  const Result result = run_operation(0, std::nullopt);
  CHECK(messages(result, 1, MessageKind::atomic_request) == 0);
  CHECK(messages(result, 1, MessageKind::lock_request) == 0);  // process 1 manages lock 1
  CHECK(result.threads[1].whole.locks == 1);
  CHECK(result.threads[1].whole.atomics == 1);
  CHECK(faults(result.threads[1].whole, FaultKind::WUMR) == 2);
  CHECK(result.threads[1].whole.diffs == 2);
}

TEST_CASE("an Omni reduction: slot, barrier, combining, barrier") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  const Time without = run(program).whole_makespan;
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

TEST_CASE("a fence flushes and drops, for each kind of operation") {
  for (const Atomics atomics : {Atomics::home, Atomics::lock, Atomics::relaxed}) {
    TestProgram program({2, 1});
    program.interval(1, 1000, {reads(0), writes(2)}, {EventKind::fence});
    program.interval(1, 1000, {reads(0)}, {EventKind::task});
    const Result result = run(program, {.atomics = atomics});
    CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 3);
    CHECK(result.threads[1].whole.atomics == 1);
  }
}

namespace {

/// An update of the word at the begin of page 0, which process 0 keeps.
constexpr Event update(std::uint8_t detail = 1) {
  return {EventKind::atomic, detail, 0, 0};
}
constexpr Event compare = update(1 | compares_found);

/// Thread 1 has learned of the region (a fault of 587 us) and loads the word (another) some 1,170 us after the region's
/// begin; then it computes, and compares.
constexpr double computes_us = 4000, compares_at_us = 2 * 587 + computes_us;

/// Process 0 updates the word at these times, in 8 us each. Thread 1 compares it with the value that it loaded.
Result run_compare(const std::vector<double>& updates_us, const Event& by_1, std::optional<Atomics> atomics) {
  TestProgram program({2, 1});
  double now_us = 0;
  for (const double at_us : updates_us) {
    program.interval(0, at_us - now_us, {}, update());
    now_us = at_us + 8;
  }
  program.interval(1, computes_us, {reads(0)}, by_1);
  return run(program, {.atomics = atomics});
}

constexpr double attempt_us = 8 + 2 * (61.66 + 72 * 0.181919);

}  // namespace

TEST_CASE("a compare-exchange is repeated if another thread's operation came between") {
  struct Case {
    std::vector<double> updates_us;
    std::uint64_t attempts;
  };
  for (const auto& [updates_us, attempts] : {
           Case{{}, 1}, Case{{50}, 1},                                    // before the page left
           Case{{2000}, 2},                                               // behind it
           Case{{2000, 3000}, 2}, Case{{2000, compares_at_us + 150}, 3},  // behind the first attempt, too
           Case{{2000, compares_at_us + 150, compares_at_us + 600}, 3},   // all is over
       }) {
    const Result result = run_compare(updates_us, compare, Atomics::home);
    CAPTURE(updates_us.size(), attempts);
    CHECK(result.threads[1].whole.atomics == attempts);
    CHECK(result.threads[0].whole.atomics == updates_us.size());
    CHECK(messages(result, 1, MessageKind::atomic_request) == attempts);
    CHECK(lock_time(result, 1) == static_cast<std::int64_t>(attempts) * us(attempt_us));
    // No further fault: the reply has the word's value.
    CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 2);
  }
}

TEST_CASE("updates without comparison, or under a lock, happen once") {
  CHECK(run_compare({2000}, update(), Atomics::home).threads[1].whole.atomics == 1);
  const Result locked = run_compare({2000}, compare, Atomics::lock);
  CHECK(locked.threads[1].whole.atomics == 1);
  CHECK(locked.threads[1].whole.locks == 1);
}

TEST_CASE("a compare-exchange that failed in the trace is not repeated") {
  for (const Atomics atomics : {Atomics::home, Atomics::relaxed}) {
    for (const double update_us : {2000.0, compares_at_us + 40}) {
      CAPTURE(name_of(atomics), update_us);
      const Result result = run_compare({update_us}, update(compares_found), atomics);
      CHECK(result.threads[1].whole.atomics == 1);
    }
  }
}

TEST_CASE("a prefetched page has the contents of its home at serving") {
  std::vector<std::uint64_t> found;
  // Thread 1 traps at 587 us, and has both pages some 930 us later.
  for (double update_us = 500; update_us < 1600; update_us += 50) {
    std::vector<std::uint64_t> attempts;
    // Page 2 comes beside page 0; the fetch is the same one.
    for (const std::uint64_t page : {0, 2}) {
      const std::uint64_t word = page * page_bytes;
      TestProgram program({2, 1});
      program.interval(0, update_us, {}, {EventKind::atomic, 1, 0, word});
      program.interval(1, computes_us, {reads(0)}, {EventKind::atomic, 1 | compares_found, 0, word});
      const Result result = run(program, {.prefetch = 1, .atomics = Atomics::home});
      CHECK(result.threads[1].whole.prefetched == 1);
      attempts.push_back(result.threads[1].whole.atomics);
    }
    CAPTURE(update_us);
    CHECK(attempts[1] == attempts[0]);
    found.push_back(attempts[0]);
  }
  CHECK(found.front() == 1);
  CHECK(found.back() == 2);
  CHECK(std::ranges::is_sorted(found));
}

TEST_CASE("a relaxed compare-exchange finds the word's value on arrival") {
  CHECK(run_compare({2000}, compare, Atomics::relaxed).threads[1].whole.atomics == 1);
  CHECK(run_compare({compares_at_us + 40}, compare, Atomics::relaxed).threads[1].whole.atomics == 2);
}

TEST_CASE("operations without changes, or on other words, refuse none") {
  for (const Event& other : {update(0), Event{EventKind::atomic, 1, 0, 8}}) {
    TestProgram program({2, 1});
    program.interval(0, 2000, {}, other);
    program.interval(1, computes_us, {reads(0)}, compare);
    CHECK(run(program, {.atomics = Atomics::home}).threads[1].whole.atomics == 1);
  }
}

TEST_CASE("of two nodes' updates one repeats, but baselines have no repetition") {
  std::vector<Time> counts;
  for (const bool compares : {true, false}) {
    TestProgram program({3, 1});
    for (const std::uint32_t thread : {1, 2}) program.interval(thread, 2000, {reads(0)}, compares ? compare : update());
    const Result result = run(program, {.atomics = Atomics::home});
    const std::uint64_t done = result.threads[1].whole.atomics + result.threads[2].whole.atomics;
    CHECK(done == (compares ? 3 : 2));
    counts.push_back(result.baselines.counts);
  }
  CHECK(counts[0] == counts[1]);
}
