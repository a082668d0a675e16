/// A home that computes: which thread pays for its answers, and when they come.

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

/// Process 1 reads `pages` pages of process 0 while process 0 computes for 50 ms.
TestProgram fetches_from_a_computing_home(std::uint32_t pages) {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  program.barrier(0, 50'000);
  std::vector<trace::TouchRun> touches;
  for (std::uint32_t i = 0; i < pages; ++i) touches.push_back(reads(2 * i, static_cast<std::uint8_t>(10 * i)));
  program.barrier(1, 50'000, touches);
  return program;
}

/// A platform with one processor on each node.
TemporaryFile one_core(std::initializer_list<std::pair<std::string, std::string>> changed = {}) {
  PlatformText text(changed);
  text.cores = 1;
  return TemporaryFile(text.text());
}

Time stolen_from(const Result& result, std::uint32_t thread, Spent item) {
  return result.threads[thread].whole.stolen_from[static_cast<std::size_t>(item)];
}
Time stolen_from(const Result& result, std::uint32_t thread, FaultKind kind) {
  return stolen_from(result, thread, spent_on(kind));
}

}  // namespace

TEST_CASE("a free processor on the home's node answers at no cost") {
  const Result result = run(fetches_from_a_computing_home(4));
  CHECK(spent(result.threads[0].whole, Spent::stolen) == Time{});
  CHECK(spent(result.threads[1].whole, FaultKind::RUMR) == us(5 * 587));
}

TEST_CASE("on a busy single processor each answer steals the home's part") {
  const TemporaryFile file = one_core();
  const Result result = run(file.path(), NetworkKind::queue, fetches_from_a_computing_home(4));
  // Half of the local part of 79.96 us, for each of four pages. The region's page was fetched while process 0 computed
  // its first 5 ms: five.
  CHECK(spent(result.threads[0].whole, Spent::stolen) == us(5 * 39.98));
  CHECK(spent(result.threads[0].whole, Spent::compute) == us(55'000));
  // The requester is answered as fast as ever.
  CHECK(spent(result.threads[1].whole, FaultKind::RUMR) == us(5 * 587));
}

TEST_CASE("an adapter that answers by itself steals nothing") {
  const TemporaryFile file = one_core({{"fetch.home-share", "0"}, {"local-part.waiting-share", "0.7"}});
  const Result result = run(file.path(), NetworkKind::queue, fetches_from_a_computing_home(4));
  CHECK(spent(result.threads[0].whole, Spent::stolen) == Time{});
  CHECK(spent(result.threads[1].whole, FaultKind::RUMR) == us(5 * 587));
}

TEST_CASE("stolen time is recorded by what the home's thread did") {
  const TemporaryFile file = one_core({{"fault.WROH", "10ms"}});
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  // 10 ms of a fault, then 30 ms of computing. Two pages are fetched from it in the first, and one in the second.
  program.barrier_of_all({{30'000, {writes(4)}}, {30'000, {reads(0, 10), reads(2, 40), reads(6, 128)}}});
  const Result result = run(file.path(), NetworkKind::queue, program);
  CHECK(stolen_from(result, 0, FaultKind::WROH) == us(2 * 39.98));
  CHECK(stolen_from(result, 0, Spent::compute) == us(2 * 39.98));  // and the region's page, in the first 5 ms
  CHECK(spent(result.threads[0].whole, Spent::stolen) == us(4 * 39.98));
  CHECK(result.threads[1].whole.stolen_from == Tally{}.stolen_from);
}

TEST_CASE("stolen time in a fault's trap counts as computing") {
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  // Two faults of 10 ms each. In the first, pages are fetched 8.8, 4.7 and 0.6 ms before its end.
  program.barrier_of_all({{30'000, {writes(4), writes(6)}}, {30'000, {reads(0, 10), reads(2, 40), reads(8, 70)}}});
  for (const auto& [trap, of_computing] : {std::pair{"0.5ms", 0}, std::pair{"3ms", 1}, std::pair{"7ms", 2}}) {
    const TemporaryFile file = one_core({{"fault.WROH", "10ms"}, {"fault.trap", trap}});
    const Result result = run(file.path(), NetworkKind::queue, program);
    // One more for the region's page, in the first 5 ms.
    CHECK(stolen_from(result, 0, Spent::compute) == us((1 + of_computing) * 39.98));
    CHECK(stolen_from(result, 0, FaultKind::WROH) == us((3 - of_computing) * 39.98));
    CHECK(spent(result.threads[0].whole, Spent::stolen) == us(4 * 39.98));
  }
}

TEST_CASE("a theft during a theft counts for the same moment") {
  const TemporaryFile file = one_core({{"fault.WROH", "10ms"}, {"fault.trap", "8.81ms"}});
  TestProgram program({3, 1});
  program.barrier_of_all(5000);
  // Both requests come 1.2 ms after the fault's beginning, 8.8005 ms before its end: the second one amid the first's
  // service of 40 us, which is no work of the fault's.
  program.barrier_of_all({{30'000, {writes(6)}}, {30'000, {reads(0, 10)}}, {30'000, {reads(3, 10)}}});
  const Result result = run(file.path(), NetworkKind::queue, program);
  CHECK(stolen_from(result, 0, Spent::compute) == us(4 * 39.98));  // with two of the region's page
  CHECK(stolen_from(result, 0, FaultKind::WROH) == Time{});
}

TEST_CASE("a waiting home and a computing home take different shares") {
  for (const auto& [share, us_each] : {std::pair{"0.25", 587 - 19.99}, std::pair{"2", 587 + 3 * 39.98}}) {
    const TemporaryFile file = one_core({{"local-part.waiting-share", share}});
    const Result computing = run(file.path(), NetworkKind::queue, fetches_from_a_computing_home(4));
    CHECK(spent(computing.threads[1].whole, FaultKind::RUMR) == us(5 * 587));
    CHECK(spent(computing.threads[0].whole, Spent::stolen) == us(5 * 39.98));
    TestProgram program({2, 1});
    program.barrier_of_all({{0}, {50'000, {reads(0, 50), reads(2, 100)}}});
    const Result waiting = run(file.path(), NetworkKind::queue, program);
    CHECK(spent(waiting.threads[1].whole, FaultKind::RUMR) == us(3 * us_each));
  }
}

TEST_CASE("a home that has just fetched serves like a waiting one") {
  const TemporaryFile file = one_core({{"local-part.waiting-share", "0.25"}});
  TestProgram program({2, 1});
  program.barrier_of_all(5000);
  // Process 0's page has come after 547.02 us, and 39.98 us are left. Process 1 computes for 500 us and 39.98 that are
  // stolen from it; its request takes 27.6 us.
  program.barrier_of_all({{32'000, {reads(1)}}, {32'000, {reads(0, 4)}}});
  const Result result = run(file.path(), NetworkKind::queue, program);
  CHECK(stolen_from(result, 0, FaultKind::RUMR) == us(19.99));
  CHECK(stolen_from(result, 0, Spent::compute) == us(39.98));  // the region's page
  CHECK(spent(result.threads[1].whole, FaultKind::RUMR) == us(587 + 587 - 19.99));
}

TEST_CASE("the home's share of the local part is what is stolen") {
  const TemporaryFile file = one_core({{"local-part.home-share", "1"}});
  const Result result = run(file.path(), NetworkKind::queue, fetches_from_a_computing_home(4));
  CHECK(spent(result.threads[0].whole, Spent::stolen) == us(5 * 79.96));
  CHECK(spent(result.threads[1].whole, FaultKind::RUMR) == us(5 * 587));
}

TEST_CASE("a home that waits loses nothing") {
  const TemporaryFile file = one_core();
  TestProgram program({2, 1});
  program.barrier(0, 0);  // waits at the barrier
  program.barrier(1, 50'000, {reads(0), reads(2, 100)});
  const Result result = run(file.path(), NetworkKind::queue, program);
  CHECK(spent(result.threads[0].whole, Spent::stolen) == Time{});
}

TEST_CASE("only a computing home answers after the interrupt delay") {
  const TemporaryFile file(PlatformText{{"home.interrupt-delay", "100us"}}.text());
  const Result computing = run(file.path(), NetworkKind::queue, fetches_from_a_computing_home(4));
  CHECK(spent(computing.threads[1].whole, FaultKind::RUMR) == us(5 * 687));
  TestProgram program({2, 1});
  program.barrier_of_all({{0}, {50'000, {reads(0, 50), reads(2, 100)}}});
  const Result waiting = run(file.path(), NetworkKind::queue, program);
  CHECK(spent(waiting.threads[1].whole, FaultKind::RUMR) == us(3 * 587));
}

TEST_CASE("stolen time extends a thread's work, from which more can be stolen") {
  const TemporaryFile file = one_core();
  TestProgram program({4, 1});
  program.barrier_of_all(10'000);
  // Process 0 has 500 us left when three requests arrive, 27.6 to 45.2 us from now.
  program.barrier(0, 500);
  for (std::uint32_t t = 1; t < 4; ++t) program.barrier(t, 10'000, {reads(4 * t)});
  const Result result = run(file.path(), NetworkKind::queue, program);
  // Three answers here, and three of the region's page in the 10 ms before.
  CHECK(spent(result.threads[0].whole, Spent::stolen) == us(6 * 39.98));
}
