#include "workloads/trace/reductions.hpp"

#include "tests/catch.hpp"
#include "tests/workloads/trace/samples.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

using Intervals = std::vector<Interval>;

Interval operation(std::uint64_t byte = 64) {
  return {.end = {.kind = EventKind::atomic, .detail = 1, .object = 0, .value = byte}};
}
Interval barrier() {
  return {.end = {.kind = EventKind::barrier, .value = 2}};
}
Interval reads_a_page() {
  return {.touches = {{.pages = 1, .first = 3}}};
}

/// Two threads that do so in one parallel region. The last interval of each ends with the join.
Reductions found_in(Intervals first, Intervals second) {
  Trace trace;
  trace.header = header_for(2);
  trace.regions = heap_blocks(1, 100);
  const Event join{.kind = EventKind::join, .value = 2};
  first.back().end = second.back().end = join;
  first.insert(first.begin(), Interval{.end = {.kind = EventKind::fork, .value = 2}});
  second.insert(second.begin(), Interval{.end = {.kind = EventKind::team_begin, .value = 2}});
  for (Intervals* own : {&first, &second}) own->push_back({.end = {.kind = EventKind::end}});
  trace.threads = {first, second};
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  return find_reductions(File(scratch / "a.trace"));
}

}  // namespace

TEST_CASE("an operation of each member before the join is a reduction") {
  const Reductions found = found_in({operation(), {}}, {barrier(), operation(), {}});
  CHECK(found.count == 1);
  CHECK(found.parts[0] == std::vector{ReductionPart{1, 2}});
  CHECK(found.parts[1] == std::vector{ReductionPart{2, 2}});
}

TEST_CASE("what only looks like a reduction is none") {
  const auto none = [](const Intervals& first, const Intervals& second) {
    const Reductions found = found_in(first, second);
    return found.count == 0 && found.parts[0].empty() && found.parts[1].empty();
  };
  SECTION("one member has none") {
    CHECK(none({operation(), {}}, {{}}));
  }
  SECTION("members' own counters") {
    CHECK(none({operation(0), {}}, {operation(8), {}}));
  }
  SECTION("a member has two") {
    CHECK(none({operation(), operation(), {}}, {operation(), {}}));
  }
  SECTION("a counter that is used in the region, too") {
    CHECK(none({operation(), barrier(), operation(), {}}, {barrier(), operation(), {}}));
  }
  SECTION("a member works on memory behind it") {
    CHECK(none({operation(), {}}, {operation(), reads_a_page()}));
  }
  SECTION("a member computes behind it") {
    CHECK(none({operation(), {}}, {operation(), {.compute_ns = most_after_reduction_ns + 1}}));
  }
  SECTION("a barrier follows it") {
    CHECK(none({operation(), barrier(), {}}, {operation(), barrier(), {}}));
  }
  SECTION("a fence follows it") {
    const Interval fence{.end = {.kind = EventKind::fence}};
    CHECK(none({operation(), fence, {}}, {operation(), fence, {}}));
  }
}

TEST_CASE("only the last of two variables' operations are a reduction") {
  const Reductions found = found_in({operation(0), operation(8), {}}, {operation(0), operation(8), {}});
  CHECK(found.count == 1);
  CHECK(found.parts[0] == std::vector{ReductionPart{2, 2}});
}
