/// Do the recorded page touches say what the program did? Each program's are known by hand.
#include <algorithm>
#include <string_view>

#include "tests/catch.hpp"
#include "tests/native/traced_run.hpp"

using namespace sdsm;
using namespace sdsm::tests;

namespace {

std::vector<PageTouch> of_region(const Step& step, const std::string& region) {
  std::vector<PageTouch> touches;
  for (const PageTouch& touch : step.touches) {
    if (touch.region == region) touches.push_back(touch);
  }
  return touches;
}

const trace::Region& region_named(const TraceContent& trace, std::string_view start) {
  for (const trace::Region& region : trace.regions) {
    if (region.name.starts_with(start)) return region;
  }
  FAIL("no region " << start);
  return trace.regions.front();
}

}  // namespace

TEST_CASE("4 threads write own pages and read their neighbours' after barriers") {
  const TraceContent trace = trace_of("pages", 4);
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    const auto steps = trace.in_region(thread, 0);
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].end == Event{EventKind::barrier, 0, 0, 4});
    CHECK(steps[0].touches == std::vector<PageTouch>{{"shared", thread, Access::write, {3, 3}}});
    CHECK(steps[1].end == Event{EventKind::join, 0, 0, 4});
    REQUIRE(steps[1].touches.size() == 2);
    CHECK(steps[1].touches[0] == PageTouch{"shared", (thread + 1) % 4, Access::read, {}});
    CHECK(steps[1].touches[1] == PageTouch{"seen", thread, Access::write, {1, 1}});
  }
}

TEST_CASE("one thread alone touches the same pages") {
  const auto steps = trace_of("pages", 1).in_region(0, 0);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].end == Event{EventKind::barrier, 0, 0, 1});
  CHECK(steps[1].touches.size() == 2);
}

TEST_CASE("pages written downwards keep their order, new blocks are regions") {
  const TraceContent trace = trace_of("heap", 2);
  const Step& first = trace.threads[0][0];
  CHECK(first.end.kind == EventKind::fork);
  CHECK(of_region(first, "heap #1") == std::vector<PageTouch>{{"heap #1", 2, Access::write, {1023, 1}},
                                                              {"heap #1", 1, Access::write, {1023, 1}},
                                                              {"heap #1", 0, Access::write, {1023, 1}}});
  // At the first block's address: calloc clears its 1023 words, and word 0 of page 1 becomes 5.
  CHECK(of_region(first, "heap #2") ==
        std::vector<PageTouch>{{"heap #2", 0, Access::write, {1023, 1}}, {"heap #2", 1, Access::write, {1024, 1}}});
  CHECK(of_region(first, "small heap blocks") ==
        std::vector<PageTouch>{{"small heap blocks", 0, Access::write, {1, 1}}});
  const trace::Region& block = region_named(trace, "heap #1");
  CHECK(block.kind == RegionKind::heap_block);
  CHECK(block.placement == Placement::round_robin);
  CHECK(block.pages == 3);
  CHECK(block.name.find("12.0 KiB, heap+0x") != std::string::npos);
  CHECK(region_named(trace, "small heap blocks").pages == 1);
}

TEST_CASE("a block that grows by elements is moved a few times") {
  // 3/2 of a page at each move: log(256) / log(3/2), and the first.
  const TraceContent trace = trace_of("grown", 2);
  const auto is_block = [](const trace::Region& region) { return region.name.starts_with("heap #"); };
  CHECK(std::count_if(trace.regions.begin(), trace.regions.end(), is_block) <= 16);
}

TEST_CASE("own stacks are not traced, other threads' words are") {
  const TraceContent trace = trace_of("stack", 2);
  std::vector<PageTouch> by_0;
  std::vector<PageTouch> by_1;
  for (const Step& step : trace.in_region(0, 0)) {
    CHECK(of_region(step, "initial stack").empty());
    for (const PageTouch& touch : of_region(step, "stack of thread 1")) by_0.push_back(touch);
  }
  for (const Step& step : trace.in_region(1, 0)) {
    CHECK(of_region(step, "stack of thread 1").empty());
    for (const PageTouch& touch : of_region(step, "initial stack")) by_1.push_back(touch);
  }
  REQUIRE(by_0.size() == 2);
  CHECK(by_0[0].access == Access::read);
  CHECK(by_0[1].access == Access::write);
  CHECK(by_0[1].change == Change{1, 1});
  std::vector<PageTouch> writes;
  for (const PageTouch& touch : by_1) {
    if (touch.access == Access::write) writes.push_back(touch);
  }
  CHECK(writes.size() == 1);  // its part of the sum
  // The reduction, which adds 0, is an atomic operation.
  const std::vector<Step> steps = trace.in_region(1, 0);
  CHECK(std::ranges::count(steps, EventKind::atomic, [](const Step& step) { return step.end.kind; }) == 1);
}

TEST_CASE("a critical section reads and writes its counter's page anew") {
  const TraceContent trace = trace_of("critical", 3);
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    const auto steps = trace.in_region(thread, 0);
    REQUIRE(steps.size() == 5);  // acquire, release, acquire, release, join
    for (const std::size_t inside : {1U, 3U}) {
      CHECK(steps[inside].end.kind == EventKind::release);
      REQUIRE(steps[inside].touches.size() == 2);
      CHECK(steps[inside].touches[0].access == Access::read);
      CHECK(steps[inside].touches[1].access == Access::write);
      CHECK(steps[inside].touches[1].change == Change{1, 1});
    }
    for (const std::size_t outside : {0U, 2U, 4U}) CHECK(steps[outside].touches.empty());
  }
}

TEST_CASE("mapped arrays and galloc's blocks are regions with their placement") {
  const TraceContent trace = trace_of("mapped", 4);
  // A static array like others first, and as the program maps it.
  std::vector<Placement> placements;
  for (const trace::Region& region : trace.regions) {
    if (region.name != "table") continue;
    placements.push_back(region.placement);
    CHECK(region.kind == RegionKind::mapped);
    CHECK(region.pages == 8);
  }
  CHECK(placements == std::vector{Placement::initial, Placement::block});
  CHECK(region_named(trace, "heap #1").placement == Placement::block);
  CHECK(region_named(trace, "heap #2").placement == Placement::round_robin);
  const auto steps = trace.in_region(3, 0);
  const PageTouch written{"table", 6, Access::write, {1, 1}};
  CHECK(of_region(steps.at(0), "table") == std::vector<PageTouch>{written});
}
