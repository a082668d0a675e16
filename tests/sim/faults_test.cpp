/// Faults in simulated time: who waits for what, and how long.

#include <chrono>
#include <utility>

#include "tests/catch.hpp"
#include "tests/platforms/platform_text.hpp"
#include "tests/sim/runs.hpp"

using namespace sdsm;
using namespace sdsm::sim;
using namespace sdsm::test;

namespace {

Time fault_time(const Result& result, std::uint32_t thread, FaultKind kind) {
  return spent(result.threads[thread].whole, kind);
}
std::uint64_t fault_count(const Result& result, std::uint32_t thread, FaultKind kind) {
  return faults(result.threads[thread].whole, kind);
}

/// A program's run on p3-score, and on the same cluster where a first write takes 10 us longer.
struct FirstWrites {
  Result plain, result;

  FirstWrites(const TestProgram& program, const RunOptions& options = {})
      : plain(run(program, options)), result(with_cost(program, options)) {}

  template <typename Item>
  Time longer(std::uint32_t thread, Item item) const {
    return spent(result.threads[thread].whole, item) - spent(plain.threads[thread].whole, item);
  }

 private:
  static Result with_cost(const TestProgram& program, const RunOptions& options) {
    const TemporaryFile file(PlatformText{{"fault.first-write", "10us"}}.text());
    return run(file.path(), NetworkKind::queue, program, options);
  }
};

Program in_blocks(const TestProgram& program) {
  Program finished = program.finished();
  finished.regions[0].placement = Placement::block;
  return finished;
}

}  // namespace

TEST_CASE("one process pays for no fault at all") {
  TestProgram program({1, 1});
  program.barrier(0, 1000, {reads(0, 0, 64), writes(0, 128, 64)});
  const Result result = run(program);
  // 1 ms of compute, and three empty barriers of one process: fork, barrier, join.
  CHECK(result.makespan == us(1000 + 3 * 0.2));
  CHECK(spent(result.threads[0].whole, Spent::compute) == us(1000));
  CHECK(spent(result.threads[0].whole, Spent::barrier) == us(3 * 0.2));
  CHECK(result.threads[0].whole.messages == 0);
  for (const FaultRule& rule : fault_rules) CHECK(fault_count(result, 0, rule.kind) == 0);
}

TEST_CASE("owners' writes cost 8 us each, plus 18.95 us at the barrier") {
  TestProgram program({2, 1});
  program.barrier_of_all({{1000, {writes(0), writes(2), writes(4)}}, {1000}});
  const Result result = run(program);
  const Tally& owner = result.threads[0].whole;
  // Besides the three pages, process 0 owns the page that tells the region's function, and writes it at the fork.
  CHECK(faults(owner, FaultKind::WROH) == 4);
  CHECK(spent(owner, FaultKind::WROH) == us(4 * 8));
  CHECK(spent(owner, Spent::protect) == us(4 * 18.95));
  CHECK(spent(owner, Spent::diff) == Time{});
}

TEST_CASE("fault.cold counts as computing, and adds no time") {
  TestProgram program({2, 1});
  program.barrier_of_all({{1000, {writes(0), writes(2), writes(4)}}, {1000, {reads(0, 128)}}});
  const Result plain = run(program);
  for (const auto& [cold, charged_us] : {std::pair{"3us", 3}, std::pair{"9us", 8}}) {
    const TemporaryFile file(PlatformText{{"fault.cold", cold}}.text());
    const Result result = run(file.path(), NetworkKind::queue, program);
    // Three pages, and the one that tells the region's function.
    CHECK(fault_time(result, 0, FaultKind::WROH) == us(4 * (8 - charged_us)));
    CHECK(spent(result.threads[0].whole, Spent::compute) == us(1000 + 4 * charged_us));
    CHECK(result.threads[0].whole.added_computing == us(4 * charged_us));
    CHECK(result.threads[0].region.added_computing == us(4 * charged_us));
    CHECK(fault_time(result, 1, FaultKind::RUMR) == fault_time(plain, 1, FaultKind::RUMR));
    CHECK(result.makespan == plain.makespan);
  }
}

TEST_CASE("only a node's first fetch of a page costs fault.first-copy") {
  TestProgram program({2, 1});
  program.barrier_of_all({{1000}, {1000, {reads(0), reads(2)}}});
  program.barrier_of_all({{1000, {writes(0), writes(2)}}, {1000}});
  program.barrier_of_all({{1000}, {1000, {writes(0), reads(2), reads(4)}}});
  const Result plain = run(program);
  const TemporaryFile file(PlatformText{{"fault.first-copy", "10us"}}.text());
  const Result result = run(file.path(), NetworkKind::queue, program);
  const auto longer = [&](FaultKind kind) {
    return spent(result.threads[1].whole, kind) - spent(plain.threads[1].whole, kind);
  };
  CHECK(longer(FaultKind::RUMR) == us(4 * 10));  // pages 0, 2 and 4, and the one that tells the region's function
  CHECK(longer(FaultKind::WUMR) == Time{});
  CHECK(result.threads[1].whole.faults[static_cast<std::size_t>(FaultKind::WUMR)] == 1);
  CHECK(result.makespan == plain.makespan + us(4 * 10));
}

TEST_CASE("only a first write, or first twin, costs fault.first-write") {
  TestProgram program({2, 1});
  program.barrier_of_all({{1000, {writes(0), writes(2)}}, {1000, {reads(6)}}});
  // Page 6 has its memory: it was served.
  program.barrier(0, 1000, {writes(0), writes(4), writes(6)});
  program.barrier_of_all({{1000, {writes(8), writes(10)}}, {1000, {writes(8), reads(10, 128), writes(10, 200)}}});
  program.barrier(1, 1000, {writes(8)});
  const FirstWrites runs(program);
  const Result& result = runs.result;
  const auto longer = [&](std::uint32_t thread, auto item) { return runs.longer(thread, item); };
  // Pages 0, 2 and 4, and the one that tells the region's function.
  CHECK(longer(0, Spent::compute) == us(4 * 10));
  CHECK(result.threads[0].whole.added_computing == us(4 * 10));
  CHECK(longer(0, FaultKind::WROH) == Time{});
  CHECK(longer(1, FaultKind::WUMR) == us(10));  // page 8, once
  CHECK(longer(1, FaultKind::WROR) == us(10));  // page 10
  CHECK(longer(1, FaultKind::RUMR) == Time{});
  CHECK(longer(1, Spent::compute) == Time{});
  const auto& faults = result.threads[1].whole.faults;
  CHECK(faults[static_cast<std::size_t>(FaultKind::WUMR)] == 2);
  CHECK(faults[static_cast<std::size_t>(FaultKind::WROR)] == 1);
}

TEST_CASE("pages open at home are allocated at the first write, too") {
  TestProgram program({2, 1});
  program.barrier_of_all({{1000, {writes(0), writes(2)}}, {1000, {writes(1)}}});
  program.barrier_of_all({{1000, {writes(0), writes(4)}}, {1000, {writes(1)}}});
  const FirstWrites runs(program, {.protocol = ProtocolKind::home_open});
  REQUIRE(fault_count(runs.result, 0, FaultKind::WROH) == 0);
  // Pages 0, 2 and 4, and the one that tells the region's function; page 1.
  CHECK(runs.longer(0, Spent::compute) == us(4 * 10));
  CHECK(runs.longer(1, Spent::compute) == us(1 * 10));
}

TEST_CASE("a node's threads allocate a page and its twin once") {
  TestProgram program({2, 2});
  program.barrier_of_all(1000);
  program.barrier(1, 1000, {writes(0)});  // a local peer's: WROL
  for (const std::uint32_t t : {0u, 2u, 3u}) program.barrier(t, 1000);
  program.barrier(0, 1000, {writes(0)});
  for (const std::uint32_t t : {1u, 2u, 3u}) program.barrier(t, 1000);
  program.barrier(1, 1000, {writes(0)});
  for (const std::uint32_t t : {0u, 2u, 3u}) program.barrier(t, 1000);
  const FirstWrites runs(program);
  const Result& result = runs.result;
  const auto longer = [&](std::uint32_t thread, auto item) { return runs.longer(thread, item); };
  REQUIRE(fault_count(result, 1, FaultKind::WROL) == 2);
  CHECK(longer(1, Spent::compute) == us(10));
  CHECK(longer(1, FaultKind::WROL) == us(10));
  CHECK(longer(0, Spent::compute) == us(10));  // the page that tells the region's function
  CHECK(longer(0, FaultKind::WROH) == Time{});
}

TEST_CASE("a program's variables are allocated before main, at process 0 and home") {
  struct Variant {
    RegionKind kind;
    Placement placement;
    std::vector<trace::TouchRun> others;  ///< the second thread's own pages
    int first_writes[2];
  };
  const Variant variants[] = {
      {RegionKind::heap_block, Placement::round_robin, {writes(1)}, {2, 1}},
      {RegionKind::mapped, Placement::round_robin, {writes(1)}, {0, 0}},
      {RegionKind::globals, Placement::initial, {}, {0, 0}},
  };
  const Variant& variant = variants[GENERATE(0, 1, 2)];
  TestProgram program({2, 1});
  program.barrier_of_all({{1000, {writes(0), writes(2)}}, {1000, variant.others}});
  const auto made = [&] {
    Program finished = program.finished();
    finished.regions[0].kind = variant.kind;
    finished.regions[0].placement = variant.placement;
    return finished;
  };
  const Result plain = run(p3_score(), program.layout(), NetworkKind::queue, made);
  const TemporaryFile file(PlatformText{{"fault.first-write", "10us"}}.text());
  const Result result = run(file.path(), program.layout(), NetworkKind::queue, made);
  const auto longer = [&](std::uint32_t t) {
    return spent(result.threads[t].whole, Spent::compute) - spent(plain.threads[t].whole, Spent::compute);
  };
  CHECK(longer(0) == us((variant.first_writes[0] + 1) * 10));  // and the page that tells the region's function
  CHECK(longer(1) == us(variant.first_writes[1] * 10));
}

TEST_CASE("costs of many pages beyond a run's limit are refused") {
  TestProgram program({2, 1});
  program.pages = std::uint64_t{1} << 16;
  program.barrier_of_all({{1000, {writes(0, 0, 1 << 15)}}, {1000}});
  // 2^15 pages of 2^49 ps are 2^64 ps.
  for (const char* cost : {"fault.first-write", "fault.cold", "fault.WROH", "barrier.dirty-home-page"}) {
    PlatformText text{{"fault.WROH", "562.949953421312s"}, {cost, "562.949953421312s"}};
    if (std::string(cost) != "fault.cold" && std::string(cost) != "fault.WROH") text.set("fault.WROH", "8us");
    const TemporaryFile file(text.text());
    CHECK_THROWS_WITH(run(file.path(), program.layout(), NetworkKind::queue, [&] { return in_blocks(program); }),
                      ContainsSubstring("longer than 104 simulated days"));
  }
}

TEST_CASE("barrier costs that exceed a run's limit together are refused") {
  TestProgram program({2, 1});
  program.pages = std::uint64_t{1} << 16;
  std::vector<trace::TouchRun> apart;
  // 17,000 runs of a page: 8.5e6 s of each cost, and 9.2e18 ps are the most that 63 bits hold.
  for (std::uint64_t page = 0; page < 34000; page += 2) apart.push_back(writes(page));
  // Further runs are those of pages that were open at the last barrier, too.
  for (int interval = 0; interval < 3; ++interval) {
    program.barrier_of_all({{1000, interval < 2 ? apart : std::vector<trace::TouchRun>{}}, {1000}});
  }
  const auto made = [&] { return in_blocks(program); };
  for (const bool has_both : {false, true}) {
    const TemporaryFile file(
        PlatformText{{"barrier.further-run", "200s"}, {"barrier.dirty-home-page", has_both ? "500s" : "18.95us"}}
            .text());
    if (has_both) {
      CHECK_THROWS_WITH(run(file.path(), program.layout(), NetworkKind::queue, made),
                        ContainsSubstring("longer than 104 simulated days"));
    } else {
      CHECK_NOTHROW(run(file.path(), program.layout(), NetworkKind::queue, made));
    }
  }
}

TEST_CASE("a date beyond the longest run is refused on either network") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  // Thread 1 fetches its region's function, and computes. Then the home's part of its second fetch, 100 s before the
  // end of all runs, ends 800 s behind it.
  TestProgram program({2, 1});
  program.barrier(0);
  // Or the request itself arrives behind that end.
  const bool is_the_request = GENERATE(false, true);
  program.clock(1, is_the_request ? 8'999'100e6 - 1e3 : 8'999'000e6);
  program.barrier(1, 0, {reads(0)});
  const TemporaryFile file(PlatformText{{"fault.RUMR", "900s"}, {"local-part.home-share", "1"}}.text());
  CHECK_THROWS_WITH(run(file.path(), network, program), ContainsSubstring("longer than 104 simulated days"));
}

TEST_CASE("a page at the end of petabytes takes no memory before it") {
  TestProgram program({2, 1});
  program.pages = std::uint64_t{1} << 40;
  const std::uint64_t last_own = program.pages - 2;
  program.barrier_of_all({{1000, {writes(last_own)}}, {1000, {reads(last_own, 128)}}});
  const Result plain = run(program);
  const TemporaryFile file(PlatformText{{"fault.first-write", "10us"}, {"fault.first-copy", "10us"}}.text());
  const Result result = run(file.path(), NetworkKind::queue, program);
  // That page, and the one with the region's function.
  CHECK(spent(result.threads[0].whole, Spent::compute) == spent(plain.threads[0].whole, Spent::compute) + us(2 * 10));
}

TEST_CASE("first copies, prefetched ones too, are counted by node") {
  const TemporaryFile file(PlatformText{{"fault.first-copy", "10us"}}.text());
  TestProgram two_a_node({2, 2});
  two_a_node.barrier_of_all(1000);
  two_a_node.barrier(2, 1000, {reads(0)});
  for (const std::uint32_t t : {0u, 1u, 3u}) two_a_node.barrier(t, 1000);
  two_a_node.barrier(3, 1000, {reads(0)});
  for (const std::uint32_t t : {0u, 1u, 2u}) two_a_node.barrier(t, 1000);
  const auto fetching = [](const Result& result, std::uint32_t t) {
    return spent(result.threads[t].whole, FaultKind::RUMR);
  };
  const Result plain = run(two_a_node);
  const Result with_copies = run(file.path(), NetworkKind::queue, two_a_node);
  const Time longer = fetching(with_copies, 2) + fetching(with_copies, 3) - fetching(plain, 2) - fetching(plain, 3);
  const auto fetches = [&](std::uint32_t t) {
    return plain.threads[t].whole.faults[static_cast<std::size_t>(FaultKind::RUMR)];
  };
  REQUIRE(fetches(2) + fetches(3) >= 3);  // page 0 twice, and the region's page once at least
  CHECK(longer >= us(2 * 10));
  CHECK(longer < us(3 * 10));  // a peer that waits for a fetch has it longer, too, but by less than a fetch
}

TEST_CASE("a page read, then written: RUMR 587 us, then WROR 51 us") {
  TestProgram program({2, 1});
  program.barrier_of_all({{1000}, {1000, {reads(0), writes(0, 128)}}});
  const Result result = run(program);
  // The worker also reads the page that tells the region's function.
  CHECK(fault_count(result, 1, FaultKind::RUMR) == 2);
  CHECK(fault_time(result, 1, FaultKind::RUMR) == us(2 * 587));
  CHECK(fault_time(result, 1, FaultKind::WROR) == us(51));
  const Tally& reader = result.threads[1].whole;
  CHECK(reader.messages_by_kind[static_cast<std::size_t>(MessageKind::page_request)] == 2);
  CHECK(reader.messages_by_kind[static_cast<std::size_t>(MessageKind::write_request)] == 1);
  CHECK(result.threads[0].whole.served >= 2);
}

TEST_CASE("a prefetched page costs 346.4 us, request 0.64 us, and prefetch.page") {
  TestProgram program({2, 1});
  program.barrier(0, 1000);
  // At home with process 0 are pages 0, 2, 4, ...: of the next two, the node has one already.
  program.barrier(1, 1000, {reads(2), reads(4, 64), reads(0, 128), reads(6, 200)});
  PlatformText text;
  const Time further = GENERATE(us(0), us(10));
  text.set("prefetch.page", further == Time{} ? "0us" : "10us");
  const TemporaryFile file(text.text());
  const Result result = run(file.path(), NetworkKind::queue, program, {.prefetch = 1});
  const Tally& reader = result.threads[1].whole;
  // The region's page, 2 with 4, 0 alone, 6 with 8.
  CHECK(faults(reader, FaultKind::RUMR) == 4);
  CHECK(reader.prefetched == 2);
  CHECK(spent(reader, FaultKind::RUMR) == 4 * us(587) + 2 * (us(346.4) + us(0.64) + further));
  CHECK(reader.messages_by_kind[static_cast<std::size_t>(MessageKind::page_request)] == 4);
  CHECK(result.threads[0].whole.served_bytes >= 6 * 4096);
}

TEST_CASE("a home page served by prefetch has its memory") {
  TestProgram program({2, 1});
  program.barrier(0, 1000);
  program.barrier(1, 1000, {reads(2)});  // 4 comes with it
  program.barrier_of_all({{1000, {writes(2), writes(4), writes(6)}}, {1000}});
  const RunOptions options{.prefetch = 1};
  const Result plain = run(program, options);
  const TemporaryFile file(PlatformText{{"fault.first-write", "10us"}}.text());
  const Result result = run(file.path(), NetworkKind::queue, program, options);
  // Page 6, and the one that tells the region's function.
  CHECK(spent(result.threads[0].whole, Spent::compute) == spent(plain.threads[0].whole, Spent::compute) + us(2 * 10));
}

TEST_CASE("three nodes queue at one home: 587 us plus 346.4 us each") {
  // Stored and forwarded. The requests (110 bytes, 8.8 us a link) meet at the home's port and arrive after 27.6, 36.4
  // and 45.2 us; the home takes 39.98 us for each, so the last page is ready after 147.54 us. Pages leave by one cable,
  // 346.4 us each: at 67.58, 413.98 and 760.38 us; each is there 479.44 us later and is installed in 39.98 us.
  TestProgram program({4, 1});
  program.barrier_of_all(0);
  program.barrier(0, 10'000);
  for (std::uint32_t t = 1; t < 4; ++t) program.barrier(t, 10'000, {reads(4 * t)});  // all at home with process 0
  const Result result = run(program);
  // Each worker first fetched the region's page, in the same crowd: so twice.
  const Time first = us(587), second = us(413.98 + 479.44 + 39.98), third = us(760.38 + 479.44 + 39.98);
  CHECK(fault_time(result, 1, FaultKind::RUMR) == 2 * first);
  CHECK(fault_time(result, 2, FaultKind::RUMR) == 2 * second);
  CHECK(fault_time(result, 3, FaultKind::RUMR) == 2 * third);
}

TEST_CASE("requests to different homes do not disturb each other") {
  TestProgram program({4, 1});
  // 0 asks 1, 2 asks 3: their pages share no cable in the same direction.
  program.barrier_of_all(0);
  program.barrier_of_all({{10'000, {reads(1)}}, {10'000}, {10'000, {reads(3)}}, {10'000}});
  const Result result = run(program);
  CHECK(fault_time(result, 0, FaultKind::RUMR) == us(587));
  CHECK(fault_count(result, 2, FaultKind::RUMR) == 2);
}

TEST_CASE("a local peer waits for a page that is on its way") {
  TestProgram program({2, 2});
  program.barrier_of_all(0);
  program.barrier_of_all({{10'000}, {10'000}, {10'000, {reads(0, 128)}}, {10'000, {reads(0, 128)}}});
  const Result result = run(program);
  // Threads 2 and 3 ask at the same time; one fetches (RUMR), the other waits as long and then pays RROR's 18 us.
  const Time fetched = fault_time(result, 2, FaultKind::RUMR) + fault_time(result, 3, FaultKind::RUMR);
  const Time found = fault_time(result, 2, FaultKind::RROR) + fault_time(result, 3, FaultKind::RROR);
  CHECK(fault_count(result, 2, FaultKind::RUMR) + fault_count(result, 3, FaultKind::RUMR) == 2);
  CHECK(fault_count(result, 2, FaultKind::RROR) + fault_count(result, 3, FaultKind::RROR) == 2);
  CHECK(fetched == us(2 * 587));
  CHECK(found == us(2 * (587 + 18)));
}

TEST_CASE("touches happen at their place in the interval") {
  // The reader asks after 128/256 of 2 ms; had both asked at the start, they would meet at the home's port.
  TestProgram program({4, 1});
  program.barrier_of_all(0);
  program.barrier_of_all({{2000}, {2000, {reads(4, 0)}}, {2000, {reads(8, 128)}}, {2000}});
  const Result result = run(program);
  const Tally& early = result.threads[1].whole;
  const Tally& late = result.threads[2].whole;
  // The fork's crowd of three (587, 933.4, 1279.8 us), then one fetch alone each.
  CHECK(spent(early, FaultKind::RUMR) == us(587 + 587));
  CHECK(spent(late, FaultKind::RUMR) == us(933.4 + 587));
}

TEST_CASE("a run of pages costs as much as its pages in sequence") {
  TestProgram program({2, 1});
  program.barrier(0, 10'000, {writes(1, 0, 1)});
  program.barrier(1, 10'000, {reads(0, 0, 16)});  // the eight even ones are elsewhere
  const Result result = run(program);
  CHECK(fault_count(result, 1, FaultKind::RUMR) == 8 + 1);
  CHECK(fault_time(result, 1, FaultKind::RUMR) == us(9 * 587));
  CHECK(fault_time(result, 0, FaultKind::WUMR) == us(599));
}

TEST_CASE("a message without a waiting thread does not lengthen the run") {
  // Ten times slower cables than those of the reference network: a request takes 88 us on each, so that it is on its
  // way for 186 us, of which its sender only works for 51.
  PlatformText text;
  text.bandwidth = "10Mbps";
  const TemporaryFile file(text.text());
  TestProgram program({2, 1});
  program.joins = false;
  program.barrier_of_all(1000);
  program.interval(1, 0, {reads(0), writes(0)}, {EventKind::loop_end, 0, 0, 0});
  const Result result = run(file.path(), NetworkKind::queue, program);
  CHECK(faults(result.threads[1].whole, FaultKind::WROR) == 1);
  // Thread 1 ends last. It was idle while the master wrote the region's page, before the fork.
  CHECK(spent(result.threads[1].whole, Spent::idle) == us(8));
  CHECK(spent(result.threads[0].whole, Spent::idle) > us(51));
}

TEST_CASE("after a simulated week a fault's cost is exact within 1 ns") {
  const NetworkKind network = GENERATE(NetworkKind::queue, NetworkKind::simgrid);
  TestProgram program({2, 1});
  program.barrier_of_all(7 * 86'400e6);
  program.barrier_of_all({{100'000}, {100'000, {reads(0, 10), reads(2, 20), writes(4, 30)}}});
  const Result result = run(p3_score(), network, program);
  CHECK(std::chrono::abs(fault_time(result, 1, FaultKind::RUMR) - us(3 * 587)) < Time{1000});
  CHECK(std::chrono::abs(fault_time(result, 1, FaultKind::WUMR) - us(599)) < Time{1000});
  CHECK(result.threads[1].whole.total() == result.whole_makespan);
}

TEST_CASE("a fault on 8 KiB pages costs the additional wire time") {
  TestProgram program({2, 1});
  program.barrier_of_all({{10'000}, {10'000, {reads(0), writes(2, 128, 1, {2048, 1})}}});
  RunOptions options{.page = Bytes{8192}};
  const Result result = run(program, options);
  // 4096 bytes more in 3 more frames: 4330 bytes at 12.5 MB/s on the first cable; the second goes on at the same time.
  constexpr double more = 4330 * 0.08;
  CHECK(fault_time(result, 1, FaultKind::RUMR) == us(2 * (587 + more)));  // and the page of the region's function
  CHECK(fault_time(result, 1, FaultKind::WUMR) == us(599 + more));
  CHECK(result.threads[0].whole.served_bytes == 3 * 8192 + 9 * 32);
  CHECK(result.threads[1].whole.diff_bytes == 8 + 4 + 8192);
  CHECK(result.extrapolated == std::vector<std::string>{"page-size"});

  options.full_page_diffs = true;
  TestProgram little({2, 1});
  little.barrier_of_all({{10'000}, {10'000, {writes(2)}}});
  CHECK(run(little, options).threads[1].whole.diff_bytes == 8 + 4 + 8192);
}
