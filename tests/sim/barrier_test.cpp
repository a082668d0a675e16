/// The barrier's five phases in simulated time.

#include <array>

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

/// Whole makespan of a program of one barrier with `touches` of thread 1, minus that of the same without touches.
Time added_by(Layout layout, std::uint32_t thread, std::vector<trace::TouchRun> touches,
              NetworkKind network = NetworkKind::queue) {
  TestProgram with(layout), without(layout);
  with.barrier_of_all(50'000);
  without.barrier_of_all(50'000);
  for (std::uint32_t t = 0; t < layout.processes(); ++t) {
    // The touches fall into a time in which the thread would only wait, so that only the barrier gets longer.
    const double compute = t == thread ? 0 : 50'000;
    with.barrier(t, compute, t == thread ? touches : std::vector<trace::TouchRun>{});
    without.barrier(t, compute);
  }
  return run(p3_score(), network, with).whole_makespan - run(p3_score(), network, without).whole_makespan;
}

}  // namespace

TEST_CASE("an empty barrier, fork or join takes the measured time") {
  TestProgram program({2, 1});
  program.barrier_of_all(1000);
  const Result result = run(program);
  // Fork: 8 us to write the region's page before it, and 18.95 us to protect it again in it; 587 us for the worker to
  // read it after it.
  CHECK(result.whole_makespan == us(3 * 661 + 8 + 18.95 + 587 + 1000));
  CHECK(spent(result.threads[0].whole, Spent::barrier) == us(3 * 661 + 587));
  CHECK(result.threads[0].whole.barriers == 3);
  CHECK(result.threads[1].whole.barriers == 3);
  // A worker is idle until the master forks; then it takes part.
  CHECK(spent(result.threads[1].whole, Spent::idle) == us(8));
}

TEST_CASE("a barrier waits for diffs: 61.66 us plus 0.181919 us/B each") {
  const Time one = us(61.66 + 16 * 0.181919);
  CHECK(added_by({2, 1}, 1, {writes(0)}) == one);
  CHECK(added_by({2, 1}, 1, {writes(0), writes(2), writes(4)}) == 3 * one);
  // Written with the same bytes: a twin, but no diff.
  CHECK(added_by({2, 1}, 1, {writes(0, 0, 1, {0, 0})}) == Time{});
  // Only read.
  CHECK(added_by({2, 1}, 1, {reads(0)}) == Time{});
}

TEST_CASE("the simgrid network charges an uncontended diff the same time") {
  CHECK(std::chrono::abs(added_by({2, 1}, 1, {writes(0)}, NetworkKind::simgrid) - us(61.66 + 16 * 0.181919)) <=
        Time{1000});
}

TEST_CASE("a whole page's diff takes messages of 1460, 1460 and 1188 bytes") {
  // 8 + 4 + 4096 = 4108 bytes.
  CHECK(added_by({2, 1}, 1, {writes(0, 0, 1, {1024, 1})}) == us(3 * 61.66 + 4108 * 0.181919));
}

TEST_CASE("flushes of different processes run side by side") {
  TestProgram program({4, 1});
  program.barrier_of_all(50'000);
  program.barrier(0, 50'000);
  // Pages of three different homes, so that no port is shared: 1 writes a page of 2, 2 one of 3, 3 one of 1.
  program.barrier(1, 0, {writes(2)});
  program.barrier(2, 0, {writes(3)});
  program.barrier(3, 0, {writes(1)});
  TestProgram empty({4, 1});
  empty.barrier_of_all(50'000);
  for (std::uint32_t t = 0; t < 4; ++t) empty.barrier(t, t == 0 ? 50'000 : 0);
  const Result busy = run(program);
  const Result idle = run(empty);
  CHECK(busy.whole_makespan - idle.whole_makespan == us(61.66 + 16 * 0.181919));
}

TEST_CASE("each dirty home page adds 18.95 us, counted for the busiest process") {
  CHECK(added_by({2, 1}, 1, {writes(1), writes(3)}) == us(2 * 18.95));
  TestProgram program({2, 1});
  program.barrier_of_all(50'000);
  program.barrier_of_all({{50'000, {writes(0)}}, {0, {writes(1), writes(3), writes(5)}}});
  const Result result = run(program);
  CHECK(spent(result.threads[0].whole, Spent::protect) == us(2 * 18.95));  // with the region's page
  CHECK(spent(result.threads[1].whole, Spent::protect) == us(3 * 18.95));
  // The fork, and 50 ms after it the worker's last step; the barrier between; the owner's 50 ms and its page, the
  // barrier of three pages; the join.
  CHECK(result.whole_makespan ==
        us(8 + 661 + 18.95 + 587 + 50'000) + us(661) + us(50'000 + 8 + 661 + 3 * 18.95) + us(661));
}

TEST_CASE("each further run of reprotected pages takes barrier.further-run") {
  const TemporaryFile platform(PlatformText{{"barrier.further-run", "3us"}}.text());
  // Even pages have their home at process 0, odd ones at 1. Copies 0, 2, 4 and own pages 1, 3 are five runs, as copies
  // are not adjacent.
  const auto protecting = [&](const std::filesystem::path& file, std::vector<trace::TouchRun> touches) {
    TestProgram program({2, 1});
    program.barrier_of_all(50'000);
    program.barrier_of_all({{50'000}, {0, std::move(touches)}});
    const Result result = run(file, NetworkKind::queue, program);
    return std::pair(spent(result.threads[1].whole, Spent::protect), result.whole_makespan);
  };
  const auto [apart, time] = protecting(platform.path(), {reads(0), reads(2), reads(4), writes(1), writes(3)});
  CHECK(apart == us(2 * 18.95 + 4 * 3));
  CHECK(time - protecting(p3_score(), {reads(0), reads(2), reads(4), writes(1), writes(3)}).second == us(4 * 3));
  CHECK(protecting(platform.path(), {writes(1)}).first == us(18.95));
  CHECK(protecting(platform.path(), {reads(0), writes(0)}).first == Time{});
}

TEST_CASE("a local page's diff is charged but crosses no network") {
  TestProgram program({1, 2});
  program.barrier(0, 1000);
  program.barrier(1, 1000, {writes(0)});  // at home with process 0 of the same node
  const Result result = run(program);
  const Tally& writer = result.threads[1].whole;
  CHECK(writer.diffs == 1);
  // The processor part of the message: 64.570704 us minus the wire, 94 bytes on each of two cables and 10 us.
  CHECK(spent(writer, Spent::diff) == us(61.66 + 16 * 0.181919 - 2 * 7.52 - 10));
  CHECK(writer.messages_by_kind[static_cast<std::size_t>(MessageKind::diff)] == 0);
}

TEST_CASE("a flat barrier: three messages each way per remote process") {
  TestProgram program({2, 2});
  const Result result = run(program);  // fork and join
  const auto count = [&](std::uint32_t thread, MessageKind kind) {
    return result.threads[thread].whole.messages_by_kind[static_cast<std::size_t>(kind)];
  };
  CHECK(count(0, MessageKind::barrier_arrive) == 0);
  CHECK(count(1, MessageKind::barrier_arrive) == 0);
  CHECK(count(2, MessageKind::barrier_arrive) == 6);
  CHECK(count(3, MessageKind::barrier_arrive) == 6);
  CHECK(count(0, MessageKind::barrier_release) == 12);
}

TEST_CASE("a tree barrier: each node exchanges three messages with its parent") {
  PlatformText text;
  text.hosts = 8;
  text.set("barrier.shape", "tree");
  const TemporaryFile file(text.text());
  const Layout layout = GENERATE(Layout{8, 1}, Layout{8, 2});
  TestProgram program(layout);
  const Result result = run(file.path(), NetworkKind::queue, program);  // fork and join
  const auto count = [&](std::uint32_t node, MessageKind kind) {
    std::uint64_t sum = 0;
    for (const ThreadResult& thread : result.threads) {
      if (thread.node == NodeId{node}) sum += thread.whole.messages_by_kind[static_cast<std::size_t>(kind)];
    }
    return sum;
  };
  // 1, 2 and 4 report to 0; 3 to 2; 5 and 6 to 4; 7 to 6.
  const std::array<std::uint64_t, 8> children{3, 0, 1, 0, 2, 0, 1, 0};
  for (std::uint32_t node = 0; node < 8; ++node) {
    CAPTURE(layout.threads_per_node, node);
    CHECK(count(node, MessageKind::barrier_arrive) == (node == 0 ? 0 : 6));
    CHECK(count(node, MessageKind::barrier_release) == 6 * children[node]);
  }
}

namespace {

/// Threads compute for 1 ms, meet in gangs if there are any (by thread; 0: none), and join.
TestProgram in_gangs(Layout layout, const std::vector<std::uint32_t>& gangs, std::uint64_t size) {
  TestProgram program(layout);
  for (std::uint32_t t = 0; t < layout.processes(); ++t) {
    const EventKind kind = gangs[t] != 0 ? EventKind::barrier : EventKind::task;
    program.interval(t, 1000, {}, {kind, 0, 0, gangs[t] != 0 ? size : 0, gangs[t]});
  }
  return program;
}

Time gangs_add(Layout layout, const std::vector<std::uint32_t>& gangs, std::uint64_t size) {
  const std::vector<std::uint32_t> none(layout.processes(), 0);
  return run(in_gangs(layout, gangs, size)).whole_makespan - run(in_gangs(layout, none, size)).whole_makespan;
}

}  // namespace

TEST_CASE("a gang's empty barrier takes the time of one of its nodes") {
  CHECK(gangs_add({4, 1}, {1, 1, 3, 3}, 2) == us(661));
  CHECK(gangs_add({4, 1}, {1, 2, 1, 2}, 2) == us(661));
  CHECK(gangs_add({4, 2}, {1, 1, 3, 3, 5, 5, 7, 7}, 2) == us(225));
  CHECK(gangs_add({4, 2}, {1, 2, 1, 2, 1, 2, 1, 2}, 4) == us(7305));
  CHECK(gangs_add({4, 1}, {1, 2, 3, 4}, 1) == us(0.2));
}

TEST_CASE("a gang's barrier messages its first member and keeps home pages writable") {
  TestProgram program({4, 1});
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t t = 0; t < 4; ++t) {
      // Own page, and one of the other gang.
      program.interval(t, 100, {writes(t), writes(4 + (t + 2) % 4)}, {EventKind::barrier, 0, 0, 2, 1 + t / 2 * 2});
    }
  }
  const Result result = run(program);
  for (std::uint32_t t = 0; t < 4; ++t) {
    const Tally& tally = result.threads[t].whole;
    const auto count = [&](MessageKind kind) { return tally.messages_by_kind[static_cast<std::size_t>(kind)]; };
    CAPTURE(t);
    CHECK(tally.barriers == 4);
    CHECK(faults(tally, FaultKind::WROH) == (t == 0 ? 2U : 1U));  // thread 0 writes the region's page, too
    CHECK(faults(tally, FaultKind::WUMR) == 2);                   // the copy is gone after each barrier
    CHECK(tally.diffs == 2);
    CHECK(spent(tally, Spent::protect) == us(t == 0 ? 2 * 18.95 : 18.95));
    // At fork and join to thread 0; in a gang the second member to the first.
    CHECK(count(MessageKind::barrier_arrive) == (t == 0 ? 0U : 6U) + (t % 2 == 1 ? 6U : 0U));
    CHECK(count(MessageKind::barrier_release) == (t == 0 ? 18U : 0U) + (t % 2 == 0 ? 6U : 0U));
  }
}

TEST_CASE("a gang on part of a node flushes local peers before dropping") {
  TestProgram program({2, 2});
  // Thread 1 writes a page of thread 2's, and goes on while 0 and 2 meet, with a later fault of its own; it fetches
  // anew what it then writes.
  program.interval(0, 2000, {}, {EventKind::barrier, 0, 0, 2, 1});
  program.interval(2, 2000, {}, {EventKind::barrier, 0, 0, 2, 1});
  program.interval(1, 100, {writes(2)}, {EventKind::task, 0, 0, 0});
  program.interval(1, 9000, {writes(1, 128), writes(2, 255)}, {EventKind::task, 0, 0, 0});
  const Result result = run(program);
  CHECK(result.threads[0].whole.diffs == 1);
  CHECK(result.threads[1].whole.diffs == 1);
  CHECK(faults(result.threads[1].whole, FaultKind::WUMR) == 2);
}

TEST_CASE("a layout without a measured barrier is marked as extrapolated") {
  TestProgram measured({2, 1}), not_measured({3, 1});
  measured.barrier_of_all(10);
  not_measured.barrier_of_all(10);
  CHECK(run(measured).extrapolated.empty());
  CHECK(run(not_measured).extrapolated == std::vector<std::string>{"barrier"});
}

TEST_CASE("regions of different team sizes each have their own barrier") {
  // Threads 2 and 3 wait for the second region while 0 and 1 are in the first.
  TestProgram program({4, 1});
  program.joins = false;
  for (auto& intervals : program.threads) intervals.clear();
  for (std::uint32_t t = 0; t < 2; ++t) {
    program.interval(t, 100, {}, {t == 0 ? EventKind::fork : EventKind::team_begin, 0, 0, 2});
    program.interval(t, 1000, {writes(1 - t)}, {EventKind::barrier, 0, 0, 2});
    program.interval(t, 1000, {}, {EventKind::join, 0, 0, 2});
  }
  for (std::uint32_t t = 0; t < 4; ++t) {
    program.interval(t, t == 0 ? 100 : 0, {}, {t == 0 ? EventKind::fork : EventKind::team_begin, 0, 1, 4});
    program.interval(t, 1000, {}, {EventKind::join, 0, 1, 4});
  }
  const Result result = run(program);
  CHECK(result.threads[0].whole.barriers == 5);
  CHECK(result.threads[1].whole.barriers == 5);
  CHECK(result.threads[2].whole.barriers == 2);
  CHECK(result.threads[3].whole.barriers == 2);
  CHECK(result.threads[0].whole.diffs == 1);
  // Threads 2 and 3 are idle until the second fork: three barriers of 2x1, one of them with a diff of 64.570704 us.
  const Time first_region =
      us(100 + 8 + 661 + 18.95 + 587) + us(1000 + 599 + 661 + 61.66 + 16 * 0.181919) + us(1000 + 661);
  CHECK(spent(result.threads[2].whole, Spent::idle) == first_region + us(100 + 8));
}
