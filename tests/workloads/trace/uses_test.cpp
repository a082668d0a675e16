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

TEST_CASE("false sharing is two threads' changes of different lines") {
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
  CHECK(found[0] == RegionUse{.writes = 110, .written_by_one = 10, .last_phase = 1});
}

TEST_CASE("a page that a thread changes bit by bit is its own") {
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

namespace {

/// What the initial thread does alone, two threads up to a barrier and behind it, and the initial one alone again.
Trace phases_of(std::vector<std::vector<Interval>> threads) {
  Trace trace;
  trace.header = header_for(2);
  trace.regions = heap_blocks(4, 100);
  trace.threads = std::move(threads);
  return trace;
}

constexpr Event fork_of_two{.kind = EventKind::fork, .value = 2};
constexpr Event begin_of_two{.kind = EventKind::team_begin, .value = 2};
constexpr Event join_of_two{.kind = EventKind::join, .value = 2};
constexpr Event barrier_of_two{.kind = EventKind::barrier, .value = 2};

Interval read_of(std::uint32_t region, Event end) {
  return {.touches = {{.region = RegionId{region}, .access = Access::read}}, .end = end};
}

Event lock_event(EventKind kind, std::uint64_t lock) {
  return {.kind = kind, .detail = static_cast<std::uint8_t>(LockClass::lock), .object = lock};
}

}  // namespace

TEST_CASE("phases order the first and last touches of regions over all threads") {
  const Event end{.kind = EventKind::end};
  const Trace trace =
      phases_of({{read_of(0, fork_of_two), {.end = barrier_of_two}, read_of(1, join_of_two), read_of(0, end)},
                 {{.end = begin_of_two}, read_of(1, barrier_of_two), read_of(2, join_of_two), {.end = end}}});
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  const std::vector<RegionUse> found = uses(File(scratch / "a.trace"));
  // Before the region, up to the barrier, behind it, after the region.
  CHECK(found[0] == RegionUse{.reads = 2, .first_phase = 0, .last_phase = 3});
  CHECK(found[1] == RegionUse{.reads = 2, .first_phase = 1, .last_phase = 2});
  CHECK(found[2] == RegionUse{.reads = 1, .first_phase = 2, .last_phase = 2});
  CHECK(found[3] == RegionUse{});
}

TEST_CASE("a lock has its holder's touches, except under a later lock") {
  constexpr auto acquire = EventKind::acquire;
  constexpr auto release = EventKind::release;
  const Event end{.kind = EventKind::end};
  Trace trace = phases_of({{{.end = fork_of_two},
                            read_of(0, lock_event(acquire, 3)),
                            read_of(1, lock_event(acquire, 4)),
                            read_of(2, lock_event(release, 4)),
                            read_of(1, lock_event(release, 3)),
                            read_of(0, join_of_two),
                            {.end = end}},
                           {{.end = begin_of_two},
                            {.end = lock_event(acquire, 3)},
                            read_of(3, lock_event(release, 3)),
                            {.end = join_of_two},
                            {.end = end}}});
  trace.header.sites = {{"program", 16}, {"program", 32}};
  for (auto& intervals : trace.threads) {
    for (Interval& interval : intervals) {
      for (const TouchRun& run : interval.touches) interval.sites = {{index_of(run.region) % 2, 1}};
    }
  }
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  const std::vector<LockUse> found = lock_uses(File(scratch / "a.trace"));
  REQUIRE(found.size() == 2);
  CHECK(found[0] == LockUse{0, 3, 2, 2, {{RegionId{1}, 2, 0}, {RegionId{3}, 1, 0}}, {{1, 3, 0}}});
  CHECK(found[1] == LockUse{0, 4, 1, 1, {{RegionId{2}, 1, 0}}, {{0, 1, 0}}});
}

TEST_CASE("atomic operations are counted by variable, the most frequent first") {
  const auto add = [](std::uint64_t region, std::uint64_t byte) {
    return Interval{.end = {.kind = EventKind::atomic, .object = region, .value = byte}};
  };
  const Event end{.kind = EventKind::end};
  const Trace trace =
      phases_of({{{.end = fork_of_two}, add(0, 8), add(1, 8), add(1, 16), {.end = join_of_two}, {.end = end}},
                 {{.end = begin_of_two}, add(1, 8), add(1, 8), {.end = join_of_two}, {.end = end}}});
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  const std::vector<AtomicUse> found = atomic_uses(File(scratch / "a.trace"));
  CHECK(found == std::vector<AtomicUse>{{RegionId{1}, 8, 3, 2}, {RegionId{0}, 8, 1, 1}, {RegionId{1}, 16, 1, 1}});
}
