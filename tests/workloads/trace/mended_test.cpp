#include "workloads/trace/mended.hpp"

#include <filesystem>

#include "tests/catch.hpp"
#include "tests/workloads/trace/samples.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

constexpr RegionId field{0};
constexpr Change few{2, 1};

TouchRun touch_of(std::uint64_t first, std::uint32_t pages, Access access, Change change = {}) {
  return {.region = field, .pages = pages, .first = first, .access = access, .change = change};
}

constexpr Event fork_of(EventKind kind) {
  return {.kind = kind, .value = 2};
}

/// A program whose two threads do `first` and `second` in a parallel region.
struct TwoThreads {
  Interval before{};
  std::vector<Interval> first;
  std::vector<Interval> second;
  Interval after{};
};

void write_to(const std::filesystem::path& file, TwoThreads program) {
  Trace trace;
  trace.header = header_for(2);
  trace.header.call_sites.resize(7);
  trace.regions = heap_blocks(2, 100);
  program.before.end = fork_of(EventKind::fork);
  program.first.back().end = program.second.back().end = fork_of(EventKind::join);
  program.after.end = {.kind = EventKind::end};
  std::vector<Interval> initial{program.before};
  initial.insert(initial.end(), program.first.begin(), program.first.end());
  initial.push_back(program.after);
  std::vector<Interval> other{{.end = fork_of(EventKind::team_begin)}};
  other.insert(other.end(), program.second.begin(), program.second.end());
  other.push_back({.end = {.kind = EventKind::end}});
  trace.threads = {initial, other};
  write(trace, file);
}

std::vector<Interval> intervals(const std::filesystem::path& file, std::uint32_t thread) {
  const File trace(file);
  ThreadCursor cursor = trace.thread(thread, Detail::pages);
  std::vector<Interval> found;
  while (const Interval* interval = cursor.next()) found.push_back(*interval);
  return found;
}

std::vector<EventKind> kinds(const std::filesystem::path& file, std::uint32_t thread) {
  std::vector<EventKind> found;
  for (const Interval& interval : intervals(file, thread)) found.push_back(interval.end.kind);
  return found;
}

const Event barrier_of_both = fork_of(EventKind::barrier);

}  // namespace

TEST_CASE("a page written by two threads apart becomes two") {
  const Scratch scratch;
  // Page 1 is both threads', in lines 0 and 1; page 2 the second's alone. The first thread's part is page 2, as that
  // has remainder 0, the other's page 3; page 2 then is page 4, and page 1 is nobody's.
  write_to(scratch / "a.trace",
           {.before = {.touches = {touch_of(0, 3, Access::write, whole_page)}},
            .first = {{.touches = {touch_of(1, 1, Access::read), touch_of(1, 1, Access::write, few)},
                       .lines = {{{.lines = 1}, 1}}}},
            .second = {{.touches = {touch_of(1, 2, Access::write, few)}, .lines = {{{.lines = 2}, 2}}}},
            .after = {.touches = {touch_of(0, 4, Access::read)}}});
  CHECK(pad(File(scratch / "a.trace"), scratch / "b.trace") == 1);
  CHECK(File(scratch / "b.trace").regions()[0].pages == 102);
  CHECK(File(scratch / "b.trace").regions()[1].pages == 100);
  const auto initial = intervals(scratch / "b.trace", 0);
  CHECK(initial[0].touches ==
        std::vector{touch_of(0, 1, Access::write, whole_page), touch_of(2, 3, Access::write, whole_page)});
  CHECK(initial[1].touches == std::vector{touch_of(2, 1, Access::read), touch_of(2, 1, Access::write, few)});
  CHECK(initial[2].touches == std::vector{touch_of(0, 1, Access::read), touch_of(2, 4, Access::read)});
  const auto other = intervals(scratch / "b.trace", 1);
  CHECK(other[1].touches == std::vector{touch_of(3, 2, Access::write, few)});
  CHECK(other[1].lines == std::vector<LinesRun>{{{.lines = 2}, 2}});
}

TEST_CASE("a thread that only reads a divided page reads all parts") {
  const Scratch scratch;
  const std::vector<Interval> both{
      {.touches = {touch_of(0, 1, Access::write, few)}, .end = barrier_of_both, .lines = {{{.lines = 1}, 1}}},
      {.touches = {touch_of(0, 1, Access::read)}}};
  std::vector<Interval> other = both;
  other[0].lines[0].changed.lines = 4;
  write_to(scratch / "a.trace", {.first = both, .second = other});
  CHECK(pad(File(scratch / "a.trace"), scratch / "b.trace") == 1);
  CHECK(intervals(scratch / "b.trace", 1)[1].touches == std::vector{touch_of(1, 1, Access::write, few)});
  CHECK(intervals(scratch / "b.trace", 1)[2].touches == std::vector{touch_of(0, 2, Access::read)});
}

TEST_CASE("pages with common lines, or one writer, are not padded") {
  const Scratch scratch;
  const std::vector<Interval> same{{.touches = {touch_of(0, 1, Access::write, few)}, .lines = {{{.lines = 1}, 1}}}};
  write_to(scratch / "a.trace", {.first = same, .second = same});
  CHECK(pad(File(scratch / "a.trace"), scratch / "b.trace") == 0);
  CHECK_FALSE(std::filesystem::exists(scratch / "b.trace"));
}

TEST_CASE("a page with an atomic operation is not moved") {
  const Scratch scratch;
  const Event atomic{.kind = EventKind::atomic, .detail = 1, .object = 0, .value = 0};
  write_to(
      scratch / "a.trace",
      {.first = {{.touches = {touch_of(0, 1, Access::write, few)}, .end = atomic, .lines = {{{.lines = 1}, 1}}}, {}},
       .second = {{.touches = {touch_of(0, 1, Access::write, few)}, .lines = {{{.lines = 2}, 1}}}}});
  CHECK(pad(File(scratch / "a.trace"), scratch / "b.trace") == 0);
}

TEST_CASE("a barrier between conflicting accesses stays") {
  const Scratch scratch;
  const auto phase = [](std::uint64_t page, Access access, const Event& end = {}) {
    const Change change = access == Access::write ? whole_page : Change{};
    return Interval{.touches = {touch_of(page, 1, access, change)}, .end = end};
  };
  // The first barrier is between a write and a read of page 5 by the other thread. Around the second nothing meets.
  // Then the first thread writes what the second has read before the second barrier.
  write_to(scratch / "a.trace",
           {.first = {phase(5, Access::write, barrier_of_both), phase(6, Access::write, barrier_of_both),
                      phase(6, Access::write, barrier_of_both), phase(5, Access::write)},
            .second = {phase(7, Access::write, barrier_of_both), phase(5, Access::read, barrier_of_both),
                       phase(7, Access::write, barrier_of_both), phase(7, Access::write)}});
  CHECK(leave_out_barriers(File(scratch / "a.trace"), scratch / "b.trace") == 1);
  using enum EventKind;
  CHECK(kinds(scratch / "b.trace", 0) == std::vector{fork, EventKind::barrier, task, EventKind::barrier, join, end});
  CHECK(kinds(scratch / "b.trace", 1) ==
        std::vector{team_begin, EventKind::barrier, task, EventKind::barrier, join, end});
}

TEST_CASE("a barrier without conflicting accesses is left out") {
  const Scratch scratch;
  const auto phase = [](std::uint64_t page, const Event& end = {}) {
    return Interval{.touches = {touch_of(page, 1, Access::write, few)}, .end = end, .lines = {{{.lines = 1}, 1}}};
  };
  write_to(scratch / "a.trace",
           {.first = {phase(1, barrier_of_both), phase(1)}, .second = {phase(2, barrier_of_both), phase(2)}});
  CHECK(leave_out_barriers(File(scratch / "a.trace"), scratch / "b.trace") == 1);
  // A thread that writes one line may read another: a trace does not tell.
  auto other_line = phase(1);
  other_line.lines[0].changed.lines = 4;
  write_to(scratch / "c.trace",
           {.first = {phase(1, barrier_of_both), phase(1)}, .second = {phase(2, barrier_of_both), other_line}});
  CHECK(leave_out_barriers(File(scratch / "c.trace"), scratch / "d.trace") == 0);
  write_to(scratch / "e.trace", {.first = {phase(1, barrier_of_both), {.touches = {touch_of(2, 1, Access::read)}}},
                                 .second = {phase(2, barrier_of_both), phase(2)}});
  CHECK(leave_out_barriers(File(scratch / "e.trace"), scratch / "f.trace") == 0);
}

TEST_CASE("an atomic operation and another's later touch keep a barrier") {
  const Scratch scratch;
  const Interval operation{.end = {EventKind::atomic, 0, 0, 3 * page_bytes}};
  const Interval read{.touches = {touch_of(3, 1, Access::read)}};
  write_to(scratch / "a.trace",
           {.first = {operation, {.end = barrier_of_both}, {}}, .second = {{.end = barrier_of_both}, read}});
  CHECK(leave_out_barriers(File(scratch / "a.trace"), scratch / "b.trace") == 0);
  write_to(scratch / "c.trace", {.first = {{.end = barrier_of_both}, {}}, .second = {{.end = barrier_of_both}, read}});
  CHECK(leave_out_barriers(File(scratch / "c.trace"), scratch / "d.trace") == 1);
}

TEST_CASE("locks are left out but for those of ordered regions") {
  using enum EventKind;
  const Scratch scratch;
  const auto lock = [](EventKind kind, LockClass of) {
    return Interval{.end = {.kind = kind, .detail = static_cast<std::uint8_t>(of), .object = 3}};
  };
  write_to(scratch / "a.trace", {.first = {lock(acquire, LockClass::lock), lock(release, LockClass::lock), {}},
                                 .second = {lock(acquire, LockClass::ordered), lock(release, LockClass::ordered), {}}});
  CHECK(leave_out_locks(File(scratch / "a.trace"), scratch / "b.trace") == 1);
  CHECK(kinds(scratch / "b.trace", 0) == std::vector<EventKind>{fork, task, task, join, end});
  CHECK(kinds(scratch / "b.trace", 1) == std::vector<EventKind>{team_begin, acquire, release, join, end});
}

TEST_CASE("leaving out locks leaves out inline atomic operations, too") {
  using enum EventKind;
  const Scratch scratch;
  const Interval operation{.end = {.kind = atomic, .object = 0, .value = 3 * page_bytes}};
  write_to(scratch / "a.trace", {.first = {operation, operation, {}}, .second = {operation, {}}});
  CHECK(leave_out_locks(File(scratch / "a.trace"), scratch / "b.trace") == 3);
  CHECK(kinds(scratch / "b.trace", 0) == std::vector<EventKind>{fork, task, task, join, end});
}

TEST_CASE("balanced threads compute equally long, together as long as traced") {
  const Scratch scratch;
  // Up to the barrier 300 and 100 ns, behind it 0 and 7: each thread's intervals keep their proportion.
  write_to(scratch / "a.trace", {.before = {.compute_ns = 50},
                                 .first = {{.compute_ns = 100, .end = {.kind = EventKind::task}},
                                           {.compute_ns = 200, .end = barrier_of_both},
                                           {.compute_ns = 0}},
                                 .second = {{.compute_ns = 100, .end = barrier_of_both}, {.compute_ns = 7}},
                                 .after = {.compute_ns = 60}});
  CHECK(balance(File(scratch / "a.trace"), scratch / "b.trace") == 2);
  const auto computes = [&](std::uint32_t thread) {
    std::vector<std::uint64_t> found;
    for (const Interval& interval : intervals(scratch / "b.trace", thread)) found.push_back(interval.compute_ns);
    return found;
  };
  CHECK(computes(0) == std::vector<std::uint64_t>{50, 66, 134, 4, 60});
  CHECK(computes(1) == std::vector<std::uint64_t>{0, 200, 3, 0});
}

TEST_CASE("only what is called for at the given place is mended") {
  using enum EventKind;
  const Scratch scratch;
  const auto at = [](std::uint32_t call_site, const Event& end, std::uint64_t compute_ns = 0) {
    return Interval{.compute_ns = compute_ns, .end = end, .call_site = call_site};
  };
  const auto lock = [](EventKind kind, std::uint64_t number) { return Event{.kind = kind, .object = number}; };
  const auto of_single = [](std::uint8_t executes) { return Event{.kind = single, .detail = executes}; };
  // Barriers at 1 and 2; locks taken at 3 and 4, given back at 5; a single at 6 with its barrier at 7.
  const auto member = [&](std::uint64_t compute_ns, std::uint8_t executes) {
    return std::vector<Interval>{at(1, barrier_of_both, compute_ns),
                                 at(2, barrier_of_both, 3 * compute_ns),
                                 at(3, lock(acquire, 8)),
                                 at(4, lock(acquire, 9)),
                                 at(5, lock(release, 9)),
                                 at(5, lock(release, 8)),
                                 at(6, of_single(executes)),
                                 at(7, barrier_of_both),
                                 at(0, {})};
  };
  write_to(scratch / "a.trace", {.first = member(100, 1), .second = member(300, 0)});
  const File file(scratch / "a.trace");
  const auto result = scratch / "b.trace";
  CHECK(leave_out_barriers(file, result, {2}) == 1);
  CHECK(kinds(result, 0) ==
        std::vector{fork, barrier, task, acquire, acquire, release, release, single, barrier, join, end});
  CHECK(leave_out_locks(file, result, {4}) == 2);
  CHECK(kinds(result, 1) ==
        std::vector{team_begin, barrier, barrier, acquire, task, task, release, single, barrier, join, end});
  CHECK(leave_out_singles(file, result, {6}) == 1);
  CHECK(kinds(result, 0) ==
        std::vector{fork, barrier, barrier, acquire, acquire, release, release, task, task, join, end});
  CHECK(balance(file, result, {1}) == 1);
  CHECK(intervals(result, 0)[1].compute_ns == 200);
  CHECK(intervals(result, 0)[2].compute_ns == 300);
  CHECK(leave_out_singles(file, result, {5}) == 0);
}

TEST_CASE("a region that is balanced already is not written") {
  const Scratch scratch;
  write_to(scratch / "a.trace", {.first = {{.compute_ns = 5}}, .second = {{.compute_ns = 5}}});
  CHECK(balance(File(scratch / "a.trace"), scratch / "b.trace") == 0);
  CHECK_FALSE(std::filesystem::exists(scratch / "b.trace"));
}

TEST_CASE("parallel initialisation: the main writer writes a page first") {
  const Scratch scratch;
  const auto writes = [](std::uint64_t first, std::uint32_t pages) {
    return touch_of(first, pages, Access::write, whole_page);
  };
  // The initial thread fills pages 0 to 3 and 5; in the region it writes 0 and, once, 2, and the other 1 to 3.
  write_to(scratch / "a.trace",
           {.before = {.compute_ns = 9, .touches = {writes(0, 4), writes(5, 1)}},
            .first = {{.touches = {writes(0, 1), writes(2, 1)}, .end = barrier_of_both}, {}},
            .second = {{.touches = {writes(1, 3)}, .end = barrier_of_both}, {.touches = {writes(2, 1)}}}});
  CHECK(initialise_in_parallel(File(scratch / "a.trace"), scratch / "b.trace") == 3);
  const std::vector<Interval> initial = intervals(scratch / "b.trace", 0);
  const std::vector<Interval> other = intervals(scratch / "b.trace", 1);
  REQUIRE(initial.size() == 5);
  REQUIRE(other.size() == 5);
  // Nobody writes page 5 in the region, so it stays.
  CHECK(initial[0].touches == std::vector<TouchRun>{writes(5, 1)});
  CHECK(initial[0].compute_ns == 9);
  CHECK(initial[1] == Interval{.touches = {writes(0, 1)}, .end = barrier_of_both});
  CHECK(initial[2].touches == std::vector<TouchRun>{writes(0, 1), writes(2, 1)});
  CHECK(other[0].end.kind == EventKind::team_begin);
  CHECK(other[1].end == barrier_of_both);
  CHECK(other[1].touches == std::vector<TouchRun>{writes(1, 3)});
  CHECK(other[2].touches == std::vector<TouchRun>{writes(1, 3)});
}

TEST_CASE("parallel initialisation: an unwritten page goes to its main reader") {
  const Scratch scratch;
  const auto reads = [](std::uint64_t first, std::uint32_t pages) { return touch_of(first, pages, Access::read); };
  const auto writes = [](std::uint64_t first, std::uint32_t pages) {
    return touch_of(first, pages, Access::write, whole_page);
  };
  // The initial thread fills pages 0 to 3. In the region both read 0 once; the other thread reads 1, and 2 more often;
  // it writes 3, which is read more.
  write_to(scratch / "a.trace",
           {.before = {.touches = {writes(0, 4)}},
            .first = {{.touches = {reads(0, 1), reads(2, 2)}, .end = barrier_of_both}, {.touches = {reads(3, 1)}}},
            .second = {{.touches = {reads(0, 3)}, .end = barrier_of_both}, {.touches = {reads(2, 1), writes(3, 1)}}}});
  CHECK(initialise_in_parallel(File(scratch / "a.trace"), scratch / "b.trace") == 3);
  CHECK(intervals(scratch / "b.trace", 0)[1].touches == std::vector<TouchRun>{writes(0, 1)});
  CHECK(intervals(scratch / "b.trace", 1)[1].touches == std::vector<TouchRun>{writes(1, 3)});
}

TEST_CASE("parallel initialisation: waits for events count the new barrier") {
  const Scratch scratch;
  const TouchRun page = touch_of(0, 1, Access::write, whole_page);
  write_to(scratch / "a.trace",
           {.before = {.touches = {page}},
            .first = {{.end = {.kind = EventKind::task}}, {}},
            .second = {{.touches = {page}, .end = {.kind = EventKind::spin, .object = 0, .value = 2}}, {}}});
  CHECK(initialise_in_parallel(File(scratch / "a.trace"), scratch / "b.trace") == 1);
  CHECK(intervals(scratch / "b.trace", 1)[2].end == Event{.kind = EventKind::spin, .object = 0, .value = 3});
}

TEST_CASE("parallel initialisation leaves the initial thread's own arrays alone") {
  const Scratch scratch;
  const TouchRun first_page = touch_of(0, 1, Access::write, whole_page);
  write_to(scratch / "a.trace",
           {.before = {.touches = {first_page}}, .first = {{.touches = {first_page}}}, .second = {{}}});
  CHECK(initialise_in_parallel(File(scratch / "a.trace"), scratch / "b.trace") == 0);
  write_to(scratch / "c.trace", {.first = {{.touches = {first_page}}}, .second = {{.touches = {first_page}}}});
  CHECK(initialise_in_parallel(File(scratch / "c.trace"), scratch / "d.trace") == 0);
}
