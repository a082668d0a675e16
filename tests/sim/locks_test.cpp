/// Locks: waiting times, order of grants, and changes that pass with a lock.

#include <tuple>

#include "models/locks.hpp"
#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

TEST_CASE("an uncontended lock costs 24.4 us plus messages to its manager") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.acquire(0, 0, 1000);  // lock 0 is managed by process 0
  program.release(0, 0, 10);
  program.barrier(0, 5000);
  program.acquire(1, 0, 4000);
  program.release(1, 0, 10);
  program.barrier(1, 2000);
  const Result result = run(program);
  CHECK(lock_time(result, 0) == us(24.4));
  CHECK(lock_time(result, 1) == us(27.6 + 24.4 + 27.6));
  CHECK(messages(result, 0, MessageKind::lock_request) == 0);
  CHECK(messages(result, 1, MessageKind::lock_request) == 1);
  CHECK(messages(result, 1, MessageKind::lock_release) == 1);
  CHECK(messages(result, 0, MessageKind::lock_grant) == 1);
  CHECK(result.threads[0].whole.locks == 1);
  CHECK(result.threads[1].whole.locks == 1);
}

TEST_CASE("what do locks cost the initial thread outside of regions?") {
  // Lock 1 is managed by process 1, which the thread asks once; EPCC measured 0.6 us with one thread.
  TestProgram program({2, 1});
  auto& alone = program.threads[0];
  alone.pop_back();
  for (int i = 0; i < 10; ++i) {
    alone.push_back({1000, {writes(1)}, {EventKind::acquire, 0, 1}});
    alone.push_back({1000, {writes(1)}, {EventKind::release, 0, 1}});
  }
  alone.push_back({0, {}, {EventKind::fork, 0, 0, 2}});
  program.barrier_of_all(5000);
  program.acquire(1, 1);
  program.release(1, 1);
  program.barrier_of_all();
  const Result result = run(program);
  CHECK(lock_time(result, 0) == us(27.6 + 24.4 + 27.6 + 9 * 0.6));
  CHECK(result.threads[0].whole.locks == 10);
  CHECK(messages(result, 0, MessageKind::lock_request) == 1);
  CHECK(messages(result, 0, MessageKind::lock_release) == 1);
  CHECK(messages(result, 0, MessageKind::diff) == 1);  // at the fork
  CHECK(faults(result.threads[0].whole, FaultKind::RUMR) + faults(result.threads[0].whole, FaultKind::WUMR) == 1);
  CHECK(lock_time(result, 1) == us(24.4));
}

TEST_CASE("lock k is managed by process k mod P") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.acquire(0, 7, 1000);  // managed by process 1
  program.release(0, 7, 10);
  program.barrier(0, 5000);
  program.acquire(1, 7, 4000);
  program.release(1, 7, 10);
  program.barrier(1, 2000);
  const Result result = run(program);
  CHECK(lock_time(result, 0) == us(27.6 + 24.4 + 27.6));
  CHECK(lock_time(result, 1) == us(24.4));
}

TEST_CASE("a flag counts at its manager, a wait costs two messages") {
  const auto post = [](std::uint64_t value) { return Event{EventKind::post, 0, flag_number(7, 0), value}; };
  const auto wait = [](std::uint64_t value) { return Event{EventKind::wait, 0, flag_number(7, 0), value}; };
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.interval(0, 1000, {}, post(1));
  program.interval(0, 5000, {}, post(3));
  program.interval(1, 2000, {}, wait(1));
  program.interval(1, 0, {}, wait(2));
  program.barrier_of_all(1000);
  const Result result = run(program);
  CHECK(lock_time(result, 0) == us(0));
  CHECK(lock_time(result, 1) == us(6000 - 2000 + 24.4 + 27.6));  // from the first question to the second post
  CHECK(messages(result, 0, MessageKind::lock_release) == 0);
  CHECK(messages(result, 1, MessageKind::lock_request) == 2);
  CHECK(messages(result, 0, MessageKind::lock_grant) == 2);
  CHECK(result.threads[1].whole.locks == 2);
}

TEST_CASE("a held lock passes to the first that asked") {
  // Threads 1, 2 and 3 ask 1 ms apart while thread 0 holds the lock for 10 ms; each holds it for 1 ms.
  TestProgram program({4, 1});
  program.barrier_of_all(20'000);
  program.acquire(0, 0);
  program.release(0, 0, 10'000);
  program.barrier(0);
  const std::uint32_t order[] = {2, 3, 1};
  for (int i = 0; i < 3; ++i) {
    program.acquire(order[i], 0, 1000 * (i + 1));
    program.release(order[i], 0, 1000);
    program.barrier(order[i]);
  }
  const Result result = run(program);
  // Local part on 4x1: 74 - 41.4 = 32.6 us. Thread 0 has the lock after 32.6 us and lets it go at 10032.6 us. A grant
  // takes 32.6 + 27.6 us; the release of thread i then takes 27.6 us to the manager.
  const Time first = us(10'032.6 + 32.6 + 27.6);
  const Time hand_over = us(1000 + 27.6 + 32.6 + 27.6);
  CHECK(lock_time(result, 0) == us(32.6));
  CHECK(lock_time(result, 2) == first - us(1000));
  CHECK(lock_time(result, 3) == first + hand_over - us(2000));
  CHECK(lock_time(result, 1) == first + 2 * hand_over - us(3000));
}

TEST_CASE("a release sends changes before the lock passes on") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.acquire(1, 0);
  program.release(1, 0, 1000, {writes(0)});  // a page of process 0
  program.barrier_of_all({{10'000}, {5000}});
  const Result result = run(program);
  const Tally& writer = result.threads[1].whole;
  // 8 + 4 + 4 bytes: 61.66 us + 16 x 0.181919 us = 64.570704 us. At the barrier there is nothing more to send.
  CHECK(writer.diffs == 1);
  CHECK(writer.diff_bytes == 16);
  // The message's own wire time: 94 bytes, 7.52 us on each cable, is in the 64.57 us as 25.04 us.
  CHECK(spent(writer, Spent::diff) == us(61.66 + 16 * 0.181919));
}

TEST_CASE("an acquire drops copies, which are fetched again under the lock") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.acquire(1, 0, 1000, {reads(0)});
  program.release(1, 0, 1000, {reads(0)});
  program.barrier(1, 1000, {reads(0)});  // a release drops nothing
  program.barrier(0, 10'000);
  const Result result = run(program);
  CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 1 + 2);
}

TEST_CASE("home pages need no action at a lock") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.acquire(0, 0, 1000, {writes(0)});
  program.release(0, 0, 1000, {writes(0)});
  program.barrier_of_all({{1000, {writes(0)}}, {10'000}});
  const Result result = run(program);
  CHECK(faults(result.threads[0].whole, FaultKind::WROH) == 1 + 1);  // the region's page and this one
  CHECK(result.threads[0].whole.diffs == 0);
}

TEST_CASE("a single's first thread moves a counter behind a lock") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.interval(0, 0, {}, {EventKind::single, 1, 0, 0});
  program.interval(1, 3000, {}, {EventKind::single, 0, 0, 0});
  program.barrier_of_all(5000);
  const Result result = run(program);
  CHECK(result.threads[0].whole.locks == 1);
  CHECK(result.threads[1].whole.locks == 1);
  CHECK(faults(result.threads[0].whole, FaultKind::WROH) == 2);  // the region's page and the counter
  CHECK(faults(result.threads[1].whole, FaultKind::RUMR) == 2);
}

TEST_CASE("a program's locks and the run-time's locks are different locks") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  // Thread 0 holds lock 0 over a single: would they be one lock, nobody could go on.
  program.acquire(0, 0);
  program.interval(0, 10, {}, {EventKind::single, 1, 0, 0});
  program.release(0, 0, 10);
  program.barrier(0);
  program.interval(1, 10, {}, {EventKind::single, 0, 0, 0});
  program.barrier(1);
  const Result result = run(program);
  CHECK(result.threads[0].whole.locks == 2);
}

TEST_CASE("a page dropped by a local peer's acquire keeps its change") {
  TestProgram program({2, 2});
  program.barrier_of_all(5000);
  program.barrier(0, 10'000);
  program.barrier(1, 10'000);
  program.barrier(2, 10'000, {writes(0)});  // on its way for 547 us
  program.acquire(3, 0, 100);               // drops the node's copies after 100 + 27.6 + 162.6 + 27.6 us
  program.release(3, 0, 10);
  program.barrier(3, 10'000);
  const Result result = run(program);
  const Tally& writer = result.threads[2].whole;
  CHECK(faults(writer, FaultKind::WUMR) == 2);
  CHECK(writer.diffs == 1);
}

TEST_CASE("a library object counts: takers wait for enough gives, by anybody") {
  const auto take = [](std::uint64_t gives) { return Event{EventKind::take, 0, 4, gives}; };
  const Event give{EventKind::give, 0, 4};
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.interval(0, 1000, {}, give);
  program.interval(0, 5000, {}, give);
  program.interval(1, 0, {}, take(0));
  program.interval(1, 2000, {}, take(1));
  program.interval(1, 0, {}, take(2));
  program.barrier_of_all(1000);
  const Result result = run(program);
  // Object 4 is managed by process 0. The first two questions have their answer at once, the third after 6 ms.
  CHECK(lock_time(result, 1) == us(6000 - 2000 + 24.4 + 27.6));
  CHECK(messages(result, 1, MessageKind::lock_request) == 3);
  CHECK(messages(result, 0, MessageKind::lock_grant) == 3);
  CHECK(messages(result, 0, MessageKind::lock_release) == 0);
}

TEST_CASE("a thread that wins a lock by a near tie tries another") {
  // Thread 1 has lock 1 and asks for 0; thread 0 asks for 0 at the same time, and tries to take 1. The later one wins
  // if both requests lie within the trace's resolution; at some of these times, they do.
  unsigned waited = 0;
  for (double late_us = 640; late_us < 655; late_us += 0.2) {
    TestProgram program({3, 1});
    program.acquire(1, 1, 0);
    program.acquire(1, 0, 2000);
    program.release(1, 0, 10);
    program.release(1, 1, 0);
    program.acquire(0, 0, 2000 + late_us);
    program.acquire_at_a_try(0, 1, 3000);
    program.release(0, 1, 10);
    program.release(0, 0, 0);
    const Result result = run(program);
    CHECK(result.threads[0].whole.locks >= 2);
    // With lock 0, thread 0 waits for lock 1, which it only tried to take, as if lock 0 had been released: both wait.
    waited += lock_time(result, 1) > us(3000) ? 1 : 0;
  }
  CHECK(waited > 0);
}

TEST_CASE("semaphores and read-write locks serve by arrival, and readers share") {
  const auto take = [](ObjectClass what, std::uint64_t value = 0) {
    return Event{EventKind::take, static_cast<std::uint8_t>(what), 4, value};
  };
  const auto give = [](ObjectClass what) { return Event{EventKind::give, static_cast<std::uint8_t>(what), 4}; };
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  // Object 4 is managed by process 0, whose own take costs 24.4 us; it gives back at 6024.4 us.
  SECTION("a semaphore of 1") {
    program.interval(0, 1000, {}, take(ObjectClass::semaphore, 1));
    program.interval(0, 5000, {}, give(ObjectClass::semaphore));
    program.interval(1, 2000, {}, take(ObjectClass::semaphore, 1));
    program.interval(1, 0, {}, give(ObjectClass::semaphore));
  }
  SECTION("a writer behind a writer") {
    program.interval(0, 1000, {}, take(ObjectClass::writer));
    program.interval(0, 5000, {}, give(ObjectClass::writer));
    program.interval(1, 2000, {}, take(ObjectClass::writer));
    program.interval(1, 0, {}, give(ObjectClass::writer));
  }
  SECTION("a reader beside a reader, a writer behind them") {
    program.interval(0, 1000, {}, take(ObjectClass::reader));
    program.interval(0, 5000, {}, give(ObjectClass::reader));
    program.interval(1, 2000, {}, take(ObjectClass::reader));
    program.interval(1, 0, {}, give(ObjectClass::reader));
    program.interval(1, 0, {}, take(ObjectClass::writer));
    program.interval(1, 0, {}, give(ObjectClass::writer));
  }
  program.barrier_of_all(1000);
  const Result result = run(program);
  CHECK(lock_time(result, 0) == us(24.4));
  CHECK(lock_time(result, 1) == us(6024.4 + 24.4 + 27.6 - 2000));
}

TEST_CASE("a semaphore of 2 admits two, and keeps early gives") {
  const auto take = [](std::uint64_t value) {
    return Event{EventKind::take, static_cast<std::uint8_t>(ObjectClass::semaphore), 4, value};
  };
  const Event give{EventKind::give, static_cast<std::uint8_t>(ObjectClass::semaphore), 4};
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  SECTION("both in at once") {
    program.interval(0, 1000, {}, take(2));
    program.interval(0, 5000, {}, give);
    program.interval(1, 2000, {}, take(2));
    program.interval(1, 0, {}, give);
  }
  SECTION("handed on") {
    program.interval(0, 1000, {}, give);
    program.interval(1, 2000, {}, take(0));
  }
  program.barrier_of_all(1000);
  const Result result = run(program);
  CHECK(lock_time(result, 1) == us(27.6 + 24.4 + 27.6));
}

TEST_CASE("a semaphore that was reset loses its surplus") {
  const auto detail = static_cast<std::uint8_t>(ObjectClass::semaphore);
  const Event give{EventKind::give, detail, 4};
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.interval(0, 1000, {}, give);  // the surplus
  program.interval(0, 5000, {}, give);
  program.interval(1, 2000, {}, {EventKind::take, detail, 4, static_cast<std::uint32_t>(-1)});
  program.barrier_of_all(1000);
  const Result result = run(program);
  CHECK(lock_time(result, 1) == us(6000 - 2000 + 24.4 + 27.6));
}

TEST_CASE("a read-write lock in a semaphore's memory starts free") {
  const auto event = [](EventKind kind, ObjectClass what, int beyond = 0) {
    return Event{kind, static_cast<std::uint8_t>(what), 4, static_cast<std::uint32_t>(beyond)};
  };
  using enum EventKind;
  const auto writes = GENERATE(ObjectClass::writer, ObjectClass::reader);
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  int beyond = 0;
  SECTION("given twice") {
    for (int i = 0; i < 2; ++i) program.interval(0, 0, {}, event(give, ObjectClass::semaphore));
    beyond = -2;
  }
  SECTION("taken twice") {
    for (int i = 0; i < 2; ++i) program.interval(0, 0, {}, event(take, ObjectClass::semaphore, 2));
    beyond = 2;
  }
  program.barrier_of_all(5000);
  program.interval(0, 1000, {}, event(take, ObjectClass::writer, beyond));
  program.interval(0, 5000, {}, event(give, ObjectClass::writer));
  program.interval(1, 2000, {}, event(take, writes, beyond));
  program.interval(1, 0, {}, event(give, writes));
  program.barrier_of_all(1000);
  const Result result = run(program);
  CHECK(lock_time(result, 1) == us(6024.4 + 24.4 + 27.6 - 2000));
}

TEST_CASE("a semaphore within a lock goes to the lock's holder") {
  const auto [what, value] = GENERATE(std::pair{ObjectClass::semaphore, 1}, std::pair{ObjectClass::writer, 0});
  const auto detail = static_cast<std::uint8_t>(what);
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  for (const std::uint32_t thread : {0, 1}) {
    program.acquire(thread, 0, thread == 0 ? 5000 : 1000);
    program.interval(thread, 100, {}, {EventKind::take, detail, 4, static_cast<std::uint64_t>(value)});
    program.interval(thread, 100, {}, {EventKind::give, detail, 4});
    program.release(thread, 0, 100);
  }
  program.barrier_of_all(1000);
  const Result result = run(program);
  CHECK(result.threads[0].whole.locks == 2);
  CHECK(lock_time(result, 1) == us(2 * (27.6 + 24.4 + 27.6)));
}

TEST_CASE("threads that meet at a library's barrier wait for the last") {
  const auto meet = [](std::uint64_t arrivals) { return Event{EventKind::meet, 0, 4, arrivals}; };
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  for (const std::uint64_t round : {1, 2}) {
    program.interval(0, 3000, {}, meet(2 * round));
    program.interval(1, 1000, {}, meet(2 * round));
  }
  program.barrier_of_all(1000);
  const Result result = run(program);
  CHECK(lock_time(result, 0) == us(2 * 24.4));
  CHECK(result.threads[0].whole.locks == 2);
  CHECK(result.threads[1].whole.locks == 2);
}

TEST_CASE("a spinning thread goes on after the store, a question and answer") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.interval(0, 4000, {writes(1)}, {EventKind::task});  // its third event, after the fork and the barrier
  program.interval(0, 1000, {}, {EventKind::task});
  program.interval(1, 1000, {}, {EventKind::spin, 0, 0, 3});
  program.interval(1, 0, {}, {EventKind::spin, 0, 0, 2});
  program.barrier_of_all(1000);
  const auto finished = [&] {
    Program made = program.finished();
    made.has_spins = true;
    return made;
  };
  const Result result = run(p3_score(), {2, 1}, NetworkKind::queue, finished);
  CHECK(result.threads[1].whole.waits == 2);
  CHECK(result.threads[0].whole.diffs == 1);  // before the answer
  CHECK(lock_time(result, 1) > us(3000));
  CHECK(lock_time(result, 1) < us(6000));
}

TEST_CASE("requests within the trace's resolution go by thread number") {
  // Both threads of a node leave a barrier, and take a lock to write a page that the first of them keeps.
  const auto run_pair = [](double later_us, double compute_factor) {
    TestProgram program({1, 2});
    program.acquire(0, 5, 10 + later_us);
    program.release(0, 5, 1, {writes(0)});
    program.acquire(1, 5, 10);
    program.release(1, 5, 1, {writes(0)});
    return run(program, {.compute_factor = compute_factor});
  };
  for (const auto& [later_us, compute_factor, is_second] : {std::tuple{-0.9, 1.0, false},
                                                            {0.0, 1.0, false},
                                                            {0.9, 1.0, false},
                                                            {1.1, 1.0, true},
                                                            {0.9, 3.0, false},
                                                            {1.1, 3.0, true}}) {
    CAPTURE(later_us, compute_factor);
    const Result result = run_pair(later_us, compute_factor);
    // The second thread finds the page writable, and makes no twin.
    CHECK(faults(result.threads[1].whole, FaultKind::WROL) == (is_second ? 1 : 0));
    CHECK(faults(result.threads[1].whole, FaultKind::WRWL) == (is_second ? 0 : 1));
    CHECK(result.threads[0].whole.locks == 1);
    CHECK(result.threads[1].whole.locks == 1);
  }
}

TEST_CASE("queued requests within the trace's resolution go by thread number") {
  for (const double later_us : {0.9, 1.1}) {
    TestProgram program({2, 2});
    program.barrier_of_all(5000);
    program.acquire(2, 4, 1000);  // lock 4 is managed by process 0
    program.release(2, 4, 5000);
    program.acquire(1, 4, 2000);
    program.release(1, 4, 100);
    program.acquire(0, 4, 2000 + later_us);
    program.release(0, 4, 100);
    const Result result = run(program);
    CHECK((lock_time(result, 0) < lock_time(result, 1)) == (later_us < 1));
  }
}

namespace {

/// Thread 1 comes first, but thread 0's two regions are before its own, as in a loop that is shared out in blocks.
TestProgram blocks_of_ordered_regions(Layout layout, bool tells_turns) {
  TestProgram program(layout);
  program.barrier_of_all(5000);  // a fork's faults are behind all
  for (const std::uint64_t turn : {1, 2}) program.ordered(0, tells_turns ? turn : 0, 5000, 1000);
  for (const std::uint64_t turn : {3, 4}) program.ordered(1, tells_turns ? turn : 0, 1000, 1000);
  return program;
}

}  // namespace

TEST_CASE("ordered regions run in their turns, in any order of arrival") {
  // Lock 2 is managed by process 0, which gives it on 12 ms after the start and twice 24.4 us for its own two grants.
  const Result result = run(blocks_of_ordered_regions({2, 1}, true));
  CHECK(lock_time(result, 0) == us(2 * 24.4));
  const double first = (12'000 + 2 * 24.4 - 1000) + 24.4 + 27.6;
  CHECK(lock_time(result, 1) == us(first + 27.6 + 24.4 + 27.6));
  CHECK_FALSE(result.has_unknown_turns);
}

TEST_CASE("ordered regions of older traces run by arrival, and are marked") {
  const Result result = run(blocks_of_ordered_regions({2, 1}, false));
  CHECK(lock_time(result, 1) == us(2 * (27.6 + 24.4 + 27.6)));
  CHECK(result.has_unknown_turns);
}
