#include "models/program/placement.hpp"

#include <vector>

#include "models/first_touch.hpp"
#include "models/prefetch.hpp"
#include "models/program/regions.hpp"
#include "tests/catch.hpp"

using namespace sdsm;

namespace {

std::vector<std::uint32_t> homes(Placement placement, std::uint64_t pages, std::uint32_t processes) {
  std::vector<std::uint32_t> found;
  for (std::uint64_t i = 0; i < pages; ++i) found.push_back(index_of(home_of(placement, i, pages, processes)));
  return found;
}

}  // namespace

TEST_CASE("round-robin: page i of each block has home i mod P") {
  CHECK(homes(Placement::round_robin, 7, 3) == std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 0});
  CHECK(homes(Placement::round_robin, 2, 4) == std::vector<std::uint32_t>{0, 1});
  CHECK(homes(Placement::round_robin, 3, 1) == std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("block: page i of N has home floor(i P / N)") {
  CHECK(homes(Placement::block, 8, 4) == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3});
  // 10 pages over 4 processes: floor(4 i / 10).
  CHECK(homes(Placement::block, 10, 4) == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 2, 2, 2, 3, 3});
  // Fewer pages than processes: some processes have none.
  CHECK(homes(Placement::block, 2, 4) == std::vector<std::uint32_t>{0, 2});
}

TEST_CASE("block: the largest region's last page is the last process's") {
  constexpr std::uint64_t pages = std::uint64_t{1} << 40;
  CHECK(home_of(Placement::block, pages - 1, pages, 65536) == ProcessId{65535});
  CHECK(home_of(Placement::block, 0, pages, 65536) == ProcessId{0});
}

TEST_CASE("prefetch takes the home's next pages within the region") {
  const auto following = [](Placement placement, std::uint64_t pages, std::uint32_t processes, std::uint64_t index,
                            std::uint32_t most) {
    const FollowingPages found = sdsm::following({placement, pages, std::nullopt}, index, most, processes);
    return std::vector<std::uint64_t>(found.begin(), found.end());
  };
  using Pages = std::vector<std::uint64_t>;
  CHECK(following(Placement::round_robin, 10, 3, 1, 2) == Pages{4, 7});
  CHECK(following(Placement::round_robin, 10, 3, 1, 4) == Pages{4, 7});
  // Homes 0001122233.
  CHECK(following(Placement::block, 10, 4, 0, 1) == Pages{1});
  CHECK(following(Placement::block, 10, 4, 0, 9) == Pages{1, 2});
  CHECK(following(Placement::block, 10, 4, 9, 9).empty());
  CHECK(following(Placement::initial, 1000, 4, 10, 3) == Pages{11, 12, 13});
  CHECK(following(Placement::initial, 1000, 4, 10, 0).empty());
  CHECK(following(Placement::first_touch, 1000, 4, 10, 3).empty());
}

TEST_CASE("first touch: the first process is a page's home for good") {
  FirstTouchHomes homes;
  const PageId page{RegionId{3}, 7};
  CHECK(!homes.home(page));
  CHECK(homes.touched(page, ProcessId{2}) == ProcessId{2});
  CHECK(homes.touched(page, ProcessId{1}) == ProcessId{2});
  CHECK(homes.home(page) == ProcessId{2});
  CHECK(!homes.home({RegionId{3}, 6}));
  CHECK(!homes.home({RegionId{4}, 7}));
  CHECK(homes.touched({RegionId{4}, 7}, ProcessId{0}) == ProcessId{0});
}

TEST_CASE("one rule holds for all heap blocks without a request") {
  for (const Placement asked : {Placement::round_robin, Placement::block}) {
    CHECK(heap_placement(HeapPlacement::as_asked, asked) == asked);
    CHECK(heap_placement(HeapPlacement::block, asked) == Placement::block);
    CHECK(heap_placement(HeapPlacement::first_touch, asked) == Placement::first_touch);
  }
  CHECK(heap_placement_named("first-touch") == HeapPlacement::first_touch);
  CHECK(!heap_placement_named("first_touch"));
}

TEST_CASE("globals and the initial stack are at home with process 0") {
  CHECK(homes(Placement::initial, 3, 4) == std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("threads fill the nodes by blocks") {
  constexpr Layout layout{4, 2};
  STATIC_REQUIRE(layout.processes() == 8);
  STATIC_REQUIRE(layout.node_of(ProcessId{0}) == NodeId{0});
  STATIC_REQUIRE(layout.node_of(ProcessId{1}) == NodeId{0});
  STATIC_REQUIRE(layout.node_of(ProcessId{2}) == NodeId{1});
  STATIC_REQUIRE(layout.node_of(ProcessId{7}) == NodeId{3});
}

TEST_CASE("the option places heap blocks, and static arrays without a request") {
  const auto placed = [](RegionKind kind, Placement asked, HeapPlacement wanted, bool is_filled = false) {
    return placement_of(wanted, {.kind = kind, .placement = asked}, is_filled);
  };
  using enum RegionKind;
  using enum HeapPlacement;
  CHECK(placed(heap_block, Placement::round_robin, as_asked) == Placement::round_robin);
  CHECK(placed(heap_block, Placement::round_robin, first_touch) == Placement::first_touch);
  CHECK(placed(mapped, Placement::initial, block) == Placement::block);
  CHECK(placed(mapped, Placement::initial, first_touch, true) == Placement::initial);
  CHECK(placed(mapped, Placement::block, round_robin) == Placement::block);
  CHECK(placed(globals, Placement::initial, block) == Placement::initial);
}

TEST_CASE("a thread's stack has its homes at the thread") {
  const MemoryRegion stack{RegionKind::thread_stack, Placement::block, 3, 8};
  CHECK(homes_of(stack, stack.placement, stack.pages).home(0, 4) == ProcessId{3});
  const MemoryRegion block{RegionKind::heap_block, Placement::block, 0, 8};
  CHECK(homes_of(block, Placement::round_robin, block.pages).home(6, 4) == ProcessId{2});
}
