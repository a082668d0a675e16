#include "workloads/trace/uses.hpp"

#include "tests/catch.hpp"
#include "tests/workloads/trace/samples.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

constexpr RegionId grid{0};
constexpr RegionId counters{1};

TouchRun write_of(RegionId region, std::uint64_t first, std::uint32_t pages, Change change) {
  return {.region = region, .pages = pages, .first = first, .access = Access::write, .change = change};
}

LinesRun lines_of(std::uint64_t lines, std::uint64_t pages) {
  return {{.lines = lines}, pages};
}

/// What two threads do in a parallel region, after what the initial one did before.
std::vector<RegionUse> uses_of(Interval before, Interval first, Interval second, std::vector<Site> sites = {}) {
  Trace trace;
  trace.header = header_for(2);
  trace.header.sites = std::move(sites);
  trace.regions = heap_blocks(2, 100);
  const Event join{.kind = EventKind::join, .value = 2};
  before.end = {.kind = EventKind::fork, .value = 2};
  first.end = join;
  second.end = join;
  const Event begin{.kind = EventKind::team_begin, .value = 2};
  const Event end{.kind = EventKind::end};
  trace.threads = {{before, first, {.end = end}}, {{.end = begin}, second, {.end = end}}};
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  return uses(File(scratch / "a.trace"));
}

}  // namespace

TEST_CASE("pages that each belong to one thread are written by one") {
  const std::vector<RegionUse> found =
      uses_of({}, {.touches = {write_of(grid, 0, 50, whole_page)}}, {.touches = {write_of(grid, 50, 50, whole_page)}});
  CHECK(found[0] == RegionUse{.writes = 100, .written_by_one = 100});
  CHECK(found[1] == RegionUse{});
}

TEST_CASE("a page where two threads change different lines is false sharing, one where they change the same is not") {
  const Change few{2, 1};
  const std::vector<RegionUse> found = uses_of({},
                                               {.touches = {write_of(grid, 0, 3, few), write_of(counters, 7, 1, few)},
                                                .lines = {lines_of(0b0001, 2), lines_of(0b0011, 1), lines_of(1, 1)}},
                                               {.touches = {write_of(grid, 1, 2, few), write_of(counters, 7, 1, few)},
                                                .lines = {lines_of(0b0010, 1), lines_of(0b0110, 1), lines_of(1, 1)}});
  // Page 0: the first thread alone. Page 1: lines 0 and 1. Page 2: both change line 1.
  CHECK(found[0] == RegionUse{.writes = 5, .written_by_one = 1, .written_apart = 1, .written_together = 1});
  CHECK(found[1] == RegionUse{.writes = 2, .written_together = 1});
}

TEST_CASE("what the initial thread writes outside of parallel regions shares no page") {
  const std::vector<RegionUse> found =
      uses_of({.touches = {write_of(grid, 0, 100, whole_page)}}, {}, {.touches = {write_of(grid, 0, 10, whole_page)}});
  CHECK(found[0] == RegionUse{.writes = 110, .written_by_one = 10});
}

TEST_CASE("lines add up over a thread's intervals: a page it changes bit by bit is its own") {
  const Change few{2, 1};
  const std::vector<RegionUse> found =
      uses_of({}, {.touches = {write_of(grid, 0, 2, few)}, .lines = {lines_of(1, 1), lines_of(2, 1)}},
              {.touches = {write_of(grid, 0, 1, whole_page), write_of(grid, 1, 1, {0, 0})}});
  // A whole page has the other's line. A store of what was there already may have been to any.
  CHECK(found[0] == RegionUse{.writes = 4, .written_together = 2});
}

TEST_CASE("touches are told by the instruction that came first") {
  const TouchRun reads{.region = counters, .pages = 4, .first = 0, .access = Access::read};
  const std::vector<RegionUse> found =
      uses_of({}, {.touches = {reads, write_of(grid, 0, 3, whole_page)}, .sites = {{0, 3}, {1, 4}}}, {},
              {{"program", 16}, {"program", 32}});
  CHECK(found[0] == RegionUse{.writes = 3, .written_by_one = 3, .sites = {{1, 0, 3}}});
  CHECK(found[1] == RegionUse{.reads = 4, .sites = {{0, 3, 0}, {1, 1, 0}}});
}
