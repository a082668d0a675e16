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
                  {.region = RegionId{299}, .first = 7, .access = Access::write, .position = 200, .change = {1024, 1}}},
      .end = {.kind = EventKind::barrier, .value = 4}};
  Trace trace{.header = header_for(4), .regions = heap_blocks(300, 8), .threads = {{}, {}, {interval}, {}}};
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  const Parts parts = take_apart(load(scratch / "a.trace"));
  REQUIRE(parts.blocks.size() == 1);
  CHECK(parts.blocks[0].thread == 2);
  CHECK(parts.blocks[0].content == FileBytes{0x43, 0x04, 0xc0, 0x84, 0x3d, 0x04, 0x10, 0x02, 0x20, 0x40, 0xe9, 0x1d,
                                             0xab, 0x02, 0xc5, 0x80, 0x08, 0x01});
}
