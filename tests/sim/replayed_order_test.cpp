/// The order of a real run: it decides which of a node's threads comes first, whatever simulated time says.
#include "sim/uncertainty.hpp"
#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;
using trace::OrderEvent;
using trace::OrderKind;

namespace {

Result run_in_order(const TestProgram& program, const std::vector<std::vector<OrderEvent>>& nodes) {
  return run(p3_score(), program.layout(), NetworkKind::queue, [&] {
    Program finished = program.finished();
    finished.order = trace::Order{program.layout(), nodes};
    return finished;
  });
}

OrderEvent event(std::uint32_t process, OrderKind kind, std::uint32_t object = 0, std::uint64_t value = 0) {
  return {ProcessId{process}, kind, object, value};
}
using enum OrderKind;

/// The administrative pages, and the first region that a program of four threads makes.
constexpr std::uint32_t administrative = 2;
constexpr std::uint32_t block = 11;

/// Thread 2 reads page 0, whose home is thread 0, long before thread 3 of the same node.
TestProgram local_peers_read() {
  TestProgram program({2, 2});
  program.barrier_of_all({{}, {}, {10, {reads(0, 128)}}, {10'000, {reads(0, 128)}}});
  return program;
}

std::vector<std::vector<OrderEvent>> order_of_reads(std::uint32_t first, std::uint32_t second) {
  return {{event(0, OrderKind::write, administrative), event(0, barrier), event(1, barrier), event(0, barrier),
           event(1, barrier), event(0, barrier), event(1, barrier)},
          {event(2, barrier), event(3, barrier), event(2, OrderKind::read, administrative),
           event(3, OrderKind::read, administrative), event(first, read, block), event(second, read, block),
           event(2, barrier), event(3, barrier), event(2, barrier), event(3, barrier), event(3, barrier)}};
}

/// Thread 0 asks for the lock long before thread 1.
TestProgram both_lock() {
  TestProgram program({2, 1});
  program.acquire(0, 0, 10);
  program.release(0, 0, 10);
  program.acquire(1, 0, 5000);
  program.release(1, 0, 10);
  return program;
}

std::vector<std::vector<OrderEvent>> order_of_locks(std::uint64_t grant_of_0, std::uint64_t grant_of_1) {
  return {{event(0, OrderKind::write, administrative), event(0, barrier), event(0, ask), event(0, take, 0, grant_of_0),
           event(0, drop), event(0, give), event(0, barrier)},
          {event(1, barrier), event(1, OrderKind::read, administrative), event(1, ask), event(1, take, 0, grant_of_1),
           event(1, drop), event(1, give), event(1, barrier)}};
}

std::string refusal(const TestProgram& program, const std::vector<std::vector<OrderEvent>>& nodes) {
  return error_text([&] { run_in_order(program, nodes); });
}

}  // namespace

TEST_CASE("the run's order decides who fetches a page") {
  const Result free = run(local_peers_read());
  CHECK(faults(free.threads[2].whole, FaultKind::RUMR) == 2);  // page 0, and the region's
  CHECK(faults(free.threads[3].whole, FaultKind::RUMR) == 0);
  const Result same = run_in_order(local_peers_read(), order_of_reads(2, 3));
  CHECK(faults(same.threads[2].whole, FaultKind::RUMR) == 2);
  const Result turned = run_in_order(local_peers_read(), order_of_reads(3, 2));
  CHECK(faults(turned.threads[2].whole, FaultKind::RUMR) == 1);
  CHECK(faults(turned.threads[2].whole, FaultKind::RROR) == 1);
  CHECK(faults(turned.threads[3].whole, FaultKind::RUMR) == 1);
  // Thread 2 waits for thread 3 of the same node, which computes for 5 ms before it reads.
  CHECK(spent(turned.threads[2].whole, FaultKind::RROR) > us(4900));
}

TEST_CASE("a lock passes as in the run") {
  const Result first = run_in_order(both_lock(), order_of_locks(0, 1));
  CHECK(spent(first.threads[0].whole, Spent::lock) < us(1000));
  const Result second = run_in_order(both_lock(), order_of_locks(1, 0));
  CHECK(spent(second.threads[0].whole, Spent::lock) > us(4900));
}

TEST_CASE("a band keeps the run's order for all drawn costs") {
  // Freely, the lock would go to thread 0 first, as it asks 5 ms before thread 1.
  const TemporaryFile file(PlatformText{{"lock.2x1.standard-error", "5us"}}.text());
  const auto in_order = [] {
    Program finished = both_lock().finished();
    finished.order = trace::Order{{2, 1}, order_of_locks(1, 0)};
    return finished;
  };
  const Uncertainty found =
      simulate_draws(read_platform(file.path()), {2, 1}, NetworkKind::queue, in_order, {}, Varied::costs, 10, {});
  const Time free = run(file.path(), NetworkKind::queue, both_lock()).makespan;
  const Time nominal = run(file.path(), {2, 1}, NetworkKind::queue, in_order).makespan;
  CHECK(nominal > free);
  for (const Draw& draw : found.draws) {
    CHECK(in_us(draw.makespan) == Approx(in_us(nominal)).margin(100));
    CHECK(draw.makespan != nominal);
  }
}

TEST_CASE("an order that does not fit fails with its place") {
  auto order = order_of_reads(2, 3);
  CHECK(refusal(local_peers_read(), order) == "no error");

  SECTION("a fault is missing") {
    order[1].erase(order[1].begin() + 4);
    const std::string said = refusal(local_peers_read(), order);
    INFO(said);
    CHECK(contains(said,
                   "thread 2, after 1 intervals: its read of page 0 of region 0 traps, but next in the recorded "
                   "order is 'barrier'"));
  }
  SECTION("a fault too many") {
    order[1].insert(order[1].begin() + 6, event(3, OrderKind::write, block, 5));
    const std::string said = refusal(local_peers_read(), order);
    INFO(said);
    CHECK(contains(said,
                   "thread 3, after 1 intervals: it comes to a barrier, but next in the recorded order is a write "
                   "fault on page 5 of region 11"));
  }
  SECTION("a fault where there is none") {
    order[1].insert(order[1].begin() + 5, event(2, OrderKind::read, block));
    CHECK(contains(refusal(local_peers_read(), order), "its access does not trap"));
  }
  SECTION("a page that the trace does not know") {
    order[1][4].object = 4'000'000'000;
    CHECK(contains(refusal(local_peers_read(), order), "traps, but next"));
  }
  SECTION("it is at its end too soon") {
    order[0].resize(3);
    CHECK(
        contains(refusal(local_peers_read(), order), "it comes to a barrier, but the recorded order has nothing more"));
  }
  SECTION("it goes on too long") {
    order[0].push_back(event(0, OrderKind::read, block));
    CHECK(contains(refusal(local_peers_read(), order), "it has ended, but next in the recorded order is a read fault"));
  }
  SECTION("nothing is in it") {
    CHECK(contains(refusal(both_lock(), {{}, {}}), "the recorded order has nothing more of it"));
  }
  SECTION("another lock") {
    auto locks = order_of_locks(0, 1);
    locks[1][3].object = 5;
    CHECK(contains(refusal(both_lock(), locks), "it asks for lock 0, but next in the recorded order is 'ask'"));
  }
  SECTION("a lock that nobody may have first") {
    const std::string said = refusal(both_lock(), order_of_locks(1, 1));
    INFO(said);
    CHECK(contains(said, "threads waiting for what never comes (the recorded order is of another run"));
    CHECK(contains(said, "thread 1: waiting after 1 intervals, last event 'acquire'"));
  }
}
