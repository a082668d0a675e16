/// The example of docs/trace-format.md.
#include "tests/catch.hpp"
#include "tests/workloads/trace/forge.hpp"
#include "tests/workloads/trace/samples.hpp"

using namespace sdsm;
using namespace sdsm::trace;

TEST_CASE("the documented example has the documented bytes") {
  const Interval interval{
      .compute_ns = 1'000'000,
      .touches = {{.pages = 2, .first = 0, .position = 0},
                  {.pages = 2, .first = 2, .position = 1},
                  {.pages = 2, .first = 4, .position = 3},
                  {.region = RegionId{299}, .first = 7, .access = Access::write, .position = 200, .change = {1022, 1}}},
      .end = {.kind = EventKind::barrier, .value = 4},
      .lines = {{.changed = {.lines = ~std::uint64_t{0}, .last_word = true}}},
      .sites = {{.site = 2, .pages = 6}, {.site = 0, .pages = 1}},
      .call_site = 1};
  Trace trace{.header = header_for(4), .regions = heap_blocks(300, 8), .threads = {{}, {}, {interval}, {}}};
  trace.header.sites = {{"a", 16}, {"a", 32}, {"b", 48}};
  trace.header.call_sites = {{{"a", 64}, 0}};
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  const Parts parts = take_apart(load(scratch / "a.trace"));
  REQUIRE(parts.blocks.size() == 1);
  CHECK(parts.blocks[0].thread == 2);
  CHECK(parts.blocks[0].content == FileBytes{0x43, 0x01, 0x08, 0xc0, 0x84, 0x3d, 0x13, 0x10, 0x02, 0x20,
                                             0x40, 0xe9, 0x1d, 0xab, 0x02, 0xc5, 0xfe, 0x07, 0x01, 0x03,
                                             0x00, 0x0b, 0xfc, 0x04, 0x00, 0x02, 0x00, 0x02});
}
