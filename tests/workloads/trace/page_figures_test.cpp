/// Page figures: what a fault counts as, and the table.
#include "workloads/trace/page_figures.hpp"
#include "models/scash/page_state.hpp"
#include "tests/catch.hpp"
#include "workloads/trace/region_numbers.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

const FaultRow& row_of(FaultKind kind) {
  return scash::tables().faults[static_cast<std::size_t>(kind)];
}

}  // namespace

TEST_CASE("a fault is one trap of its access, whatever its kind") {
  for (const FaultRule& rule : fault_rules) {
    const PageFigures figures = figures_of(row_of(rule.kind));
    CHECK(figures.read_faults == (rule.access == Access::read ? 1 : 0));
    CHECK(figures.write_faults == (rule.access == Access::write ? 1 : 0));
    CHECK(figures.diffs == 0);
  }
  CHECK(figures_of(row_of(FaultKind::WUMR)) == PageFigures{0, 1, 1, 1, 0, 0});
  CHECK(figures_of(row_of(FaultKind::WROR)) == PageFigures{0, 1, 0, 1, 0, 0});
  CHECK(figures_of(row_of(FaultKind::RUMR)) == PageFigures{1, 0, 1, 0, 0, 0});
  // Whether a local page is twinned depends on whether its home wrote it first.
  CHECK(figures_of(row_of(FaultKind::WROL)) == PageFigures{0, 1, 0, 0, 0, 0});
}

TEST_CASE("the table of pages, by hand") {
  PageBook book;
  book[{{RegionId{7}, 3}, ProcessId{2}}] = {1, 2, 3, 4, 5, 6};
  book[{{RegionId{globals_region}, 0}, ProcessId{1}}] = figures_of_diff(24);
  const RegionNames names{{7, "a \"block\", placed"}};
  CHECK(page_table_text(book, names, {2, 2}) ==
        "node,process,region,name,page,read_faults,write_faults,fetches,twins,diffs,diff_bytes\n"
        "0,1,1,\"globals\",0,0,0,0,0,1,24\n"
        "1,2,7,\"a \"\"block\"\", placed\",3,1,2,3,4,5,6\n");
}

TEST_CASE("a run numbers initial regions first, then those that the program makes") {
  const auto region = [](RegionKind kind, std::uint32_t owner = 0) {
    Region made;
    made.kind = kind;
    made.owner = owner;
    return made;
  };
  const std::vector<Region> regions{region(RegionKind::globals),         region(RegionKind::small_heap),
                                    region(RegionKind::initial_stack),   region(RegionKind::heap_block),
                                    region(RegionKind::thread_stack, 1), region(RegionKind::mapped)};
  CHECK(running_regions(regions, 2) == std::vector<std::uint32_t>{1, 7, 3, 8, 5, 9});
  // A thread's variables come behind its stack.
  const std::vector<Region> with_variables{region(RegionKind::initial_stack), region(RegionKind::thread_stack, 0),
                                           region(RegionKind::thread_stack, 1), region(RegionKind::thread_stack, 1)};
  CHECK(running_regions(with_variables, 2) == std::vector<std::uint32_t>{3, 4, 5, 6});
  CHECK(fixed_region_name(5) == "stack of thread 1");
  CHECK(fixed_region_name(6) == "thread-local variables of thread 1");
}
