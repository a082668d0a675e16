/// Do the recorded events say what the program did at OpenMP level?
#include <fmt/format.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/native/traced_run.hpp"

using namespace sdsm;
using namespace sdsm::tests;

namespace {

constexpr auto detail_of(auto value) {
  return static_cast<std::uint8_t>(value);
}

std::vector<Event> events_of(const std::vector<Step>& steps) {
  std::vector<Event> events;
  for (const Step& step : steps) events.push_back(step.end);
  return events;
}

std::size_t count_of(const std::vector<Event>& events, EventKind kind) {
  std::size_t count = 0;
  for (const Event& event : events) count += event.kind == kind ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("two threads pass each directive with its events in order") {
  const TraceContent trace = trace_of("constructs", 2);
  const auto barrier = Event{EventKind::barrier, 0, 0, 2};
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    const auto events = events_of(trace.in_region(thread, 0));
    CAPTURE(thread);
    // Chunks go to the thread that comes first, so their number is checked over both threads; the rest is in program
    // order.
    std::vector<Event> without_chunks;
    for (const Event& event : events) {
      if (event.kind != EventKind::chunk && event.kind != EventKind::task) without_chunks.push_back(event);
    }
    REQUIRE(without_chunks.size() == 16);
    CHECK(without_chunks[0].kind == EventKind::single);
    CHECK(without_chunks[0].object == 0);
    CHECK(without_chunks[1] == barrier);
    CHECK(without_chunks[2].kind == EventKind::single);
    CHECK(without_chunks[2].object == 1);
    CHECK(without_chunks[3] == Event{EventKind::copyprivate, 0, 1, 2});
    CHECK(without_chunks[4] == barrier);
    CHECK(without_chunks[5] == Event{EventKind::loop_begin, detail_of(Schedule::dynamic), 2, 64});
    CHECK(without_chunks[6] == Event{EventKind::loop_end, 0, 2, 0});
    CHECK(without_chunks[7] == Event{EventKind::loop_begin, detail_of(Schedule::sections), 3, 2});
    CHECK(without_chunks[8] == Event{EventKind::loop_end, 0, 3, 0});
    CHECK(without_chunks[9] == barrier);
    CHECK(without_chunks[10] == Event{EventKind::loop_begin, detail_of(Schedule::static_), 4, 2});
    // The loop's two iterations are one thread's each, in its order.
    CHECK(without_chunks[11] == Event{EventKind::acquire, detail_of(LockClass::ordered), 2, thread + 1});
    CHECK(without_chunks[12] == Event{EventKind::release, detail_of(LockClass::ordered), 2, 0});
    CHECK(without_chunks[13] == Event{EventKind::loop_end, 0, 4, 0});
    CHECK(without_chunks[14] == barrier);
    CHECK(without_chunks[15].kind == EventKind::join);
  }
}

TEST_CASE("chunks together hold every iteration, and each thread's last is empty") {
  const TraceContent trace = trace_of("constructs", 2);
  std::uint64_t of_loop = 0;
  std::uint64_t of_sections = 0;
  std::uint64_t singles = 0;
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    const auto events = events_of(trace.in_region(thread, 0));
    std::uint64_t last[5] = {1, 1, 1, 1, 1};
    for (const Event& event : events) {
      if (event.kind == EventKind::single && event.object == 0) singles += event.detail;
      if (event.kind != EventKind::chunk) continue;
      (event.object == 2 ? of_loop : of_sections) += event.value;
      last[event.object] = event.value;
    }
    CHECK(last[2] == 0);
    CHECK(last[3] == 0);
    CHECK(count_of(events, EventKind::task) == (thread == 0 ? 1 : 0));
  }
  CHECK(of_loop == 64);
  CHECK(of_sections == 2);
  CHECK(singles == 1);
}

TEST_CASE("the initial thread's clock reads bound the measured region") {
  const TraceContent trace = trace_of("constructs", 2);
  CHECK(trace.events(0).front() == EventKind::clock);
  CHECK(trace.events(0)[trace.events(0).size() - 2] == EventKind::clock);
  for (std::uint32_t thread = 0; thread < 2; ++thread) CHECK(trace.events(thread).back() == EventKind::end);
}

TEST_CASE("1024 threads meet a single, a lock, barriers and the join") {
  const TraceContent trace = trace_of("many", 1024);
  REQUIRE(trace.header.threads == 1024);
  std::uint64_t executed = 0;
  for (std::uint32_t thread = 0; thread < 1024; ++thread) {
    const auto events = events_of(trace.in_region(thread, 0));
    REQUIRE(events.size() == 6);  // single, barrier, acquire, release, barrier, join
    executed += events[0].detail;
    CHECK(events[5] == Event{EventKind::join, 0, 0, 1024});
  }
  CHECK(executed == 1);
}

TEST_CASE("a flag's wait without flush is an event for its setter") {
  const TraceContent trace = trace_of("spin", 2);
  // The flag is set before thread 1's second event begins: the join.
  CHECK(events_of(trace.in_region(0, 0)) == std::vector<Event>{{EventKind::spin, 0, 1, 2}, {EventKind::join, 0, 0, 2}});
  CHECK(trace.in_region(1, 0).size() == 1);
  CHECK(trace.header.unseen.empty());
}

TEST_CASE("a terminal shows each pass's progress") {
  const TemporaryFolder folder;
  std::vector<std::string> command = tracing(2, folder / "t.trace", {program("flag_pipeline"), "10000"});
  std::erase(command, "--quiet");
  const CommandResult result = run_with("exec script -qefc \"$*\" /dev/null", command);
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(result.output.find("pass 1 of 4 (untracked): ") != std::string::npos);
  CHECK(result.output.find(" events, ") != std::string::npos);
  CHECK(result.output.find(" % of ") != std::string::npos);
}

TEST_CASE("thousands of acquire waits take seconds and are events each") {
  constexpr std::uint64_t turns = 1000;  // of each thread: 400 s a pass, if the watchdog had to find each wait
  for (const auto& [threads, way] : {std::pair{2U, ""}, {4U, ""}, {2U, "calls"}, {4U, "calls"}}) {
    CAPTURE(threads, way);
    std::vector<std::string> arguments{std::to_string(turns)};
    if (*way != 0) arguments.emplace_back(way);
    const TraceContent trace = trace_of("flag_pipeline", threads, arguments);
    std::uint64_t spins = 0;
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      for (const Event& event : events_of(trace.threads[thread])) {
        if (event.kind != EventKind::spin) continue;
        ++spins;
        CHECK(event.object != thread);
        CHECK(event.value <= trace.events(static_cast<std::uint32_t>(event.object)).size());
      }
    }
    // Who comes first, or finds its turn come already, does not wait; who finds another's waits again.
    CHECK(spins > threads * turns * 9 / 10);
    CHECK(spins <= threads * turns * (threads - 1));
  }
}

TEST_CASE("inline atomic operations and fences are events with their places") {
  const TraceContent trace = trace_of("atomics", 2);
  for (std::uint32_t thread = 0; thread < 2; ++thread) {
    const std::vector<Event> events = events_of(trace.in_region(thread, 0));
    REQUIRE(events.size() == 6);
    const std::uint64_t region = events[0].object;
    const std::uint64_t place = events[0].value;
    CHECK(events[0] == Event{EventKind::atomic, 1, region, place});
    CHECK(events[1] == Event{EventKind::atomic, 2, region, place + 8});
    CHECK(events[2] == Event{EventKind::atomic, 0, region, place + 16});
    CHECK(events[3].kind == EventKind::fence);
    CHECK(events[4].kind == EventKind::barrier);
    // The page is touched by what comes before, and by what comes behind: the operations are no touches of it.
    for (std::size_t i = 1; i < 4; ++i) CHECK(trace.in_region(thread, 0)[i].touches.empty());
  }
}

TEST_CASE("mapped memory is counted") {
  const TraceContent trace = trace_of("unseen", 3);
  CHECK(trace.header.unseen == std::vector<trace::UnseenCall>{{"mmap", 1, 12'288}, {"mremap", 1, 12'288}});
  // A mutex is a lock; three have come to the barrier when it opens.
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    const std::vector<Event> events = events_of(trace.in_region(thread, 0));
    REQUIRE(events.size() == 4);
    CHECK(events[0] == Event{EventKind::acquire, detail_of(LockClass::lock), events[1].object, 0});
    CHECK(events[1].kind == EventKind::release);
    CHECK(events[2] == Event{EventKind::meet, 0, events[2].object, 3});
    CHECK(events[2].object != events[1].object);
  }
  CHECK(trace_of("pages", 2).header.unseen.empty());
}

TEST_CASE("a compare-and-exchange update is one operation on any team") {
  for (const std::uint32_t threads : {2U, 7U}) {
    CAPTURE(threads);
    const TraceContent trace = trace_of("updates", threads);
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      std::size_t in_reductions = 0;
      for (std::uint32_t region = 0; region < 20; ++region) {
        for (const Event& event : events_of(trace.in_region(thread, region))) {
          if (event.kind != EventKind::atomic) continue;
          ++in_reductions;
          CHECK(words_changed(event) == 1);  // the upper one of a double
        }
      }
      CHECK(in_reductions == 20);
      std::size_t products = 0;
      for (const Event& event : events_of(trace.in_region(thread, 20))) {
        products += event.kind == EventKind::atomic ? 1 : 0;
      }
      CHECK(products == 20);
    }
  }
}

TEST_CASE("a compare event holds its expected value only where it decides") {
  const TraceContent trace = trace_of("updates", 7);
  std::uint64_t updates = 0, compared = 0, of_lock = 0, compared_by_lock = 0;
  for (std::uint32_t thread = 0; thread < 7; ++thread) {
    for (std::uint32_t region = 0; region <= 21; ++region) {
      for (const Event& event : events_of(trace.in_region(thread, region))) {
        if (event.kind != EventKind::atomic) continue;
        ++(region == 21 ? of_lock : updates);
        if ((event.detail & compares_found) != 0) ++(region == 21 ? compared_by_lock : compared);
      }
    }
  }
  CHECK(updates == 7 * 40);
  // A thread's first at each of two instructions may come before the first one is done.
  CHECK(compared >= updates - 2 * 7);
  CHECK(of_lock >= 7 * 2);
  CHECK(compared_by_lock == 0);
}

TEST_CASE("a failed compare is an event before another instruction's") {
  const TraceContent trace = trace_of("updates", 3);
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    std::size_t failed = 0, done = 0;
    for (const Event& event : events_of(trace.in_region(thread, 22))) {
      if (event.kind != EventKind::atomic) continue;
      ++(words_changed(event) == 0 ? failed : done);
    }
    CHECK(failed == 20);
    CHECK(done == 20);
  }
}

TEST_CASE("with --lines each touch has its instruction, else none") {
  const TemporaryFolder folder;
  std::vector<std::string> command = tracing(1, folder / "t.trace", {program("pages")});
  CHECK(run_command(command).status == 0);
  CHECK(trace::File(folder / "t.trace").header().sites.empty());
  command.insert(std::find(command.begin(), command.end(), "--"), "--lines");
  REQUIRE(run_command(command).status == 0);
  const trace::File file(folder / "t.trace");
  const auto& sites = file.header().sites;
  REQUIRE(!sites.empty());
  trace::ThreadCursor cursor = file.thread(0, trace::Detail::pages);
  std::uint64_t of_program = 0;
  std::uint64_t all = 0;
  while (const trace::Interval* interval = cursor.next()) {
    for (const trace::SiteRun& run : interval->sites) {
      all += run.pages;
      if (sites[run.site].file == program("pages")) of_program += run.pages;
    }
  }
  CHECK(all == file.totals(0).page_touches);
  CHECK(of_program > all / 2);
  // addr2line knows the function of each.
  for (const trace::Site& site : sites) {
    if (site.file != program("pages")) continue;
    const CommandResult found =
        run_command({"/usr/bin/env", "addr2line", "-f", "-e", site.file, fmt::format("{:#x}", site.address)});
    INFO(site.address);
    CHECK(found.output.find("??") != 0);
  }
}

TEST_CASE("looking up callers touches no further pages") {
  const TemporaryFolder folder;
  std::vector<std::string> command = tracing(4, folder / "t.trace", {program("unwound")});
  REQUIRE(run_command(command).status == 0);
  std::vector<std::uint64_t> without;
  {
    const trace::File file(folder / "t.trace");
    for (unsigned thread = 0; thread < 4; ++thread) without.push_back(file.totals(thread).page_touches);
  }
  command.insert(std::find(command.begin(), command.end(), "--"), "--lines");
  const CommandResult with_lines = run_command(command);
  INFO(with_lines.output);
  REQUIRE(with_lines.status == 0);
  const trace::File file(folder / "t.trace");
  for (unsigned thread = 0; thread < 4; ++thread) {
    INFO(thread);
    CHECK(file.totals(thread).page_touches == without[thread]);
  }
  // Each allocation's chain of calls reaches main(), past the function that allocates for it.
  for (const trace::Region& region : file.regions()) {
    if (region.kind == RegionKind::heap_block && region.pages == 8) CHECK(region.calls.size() >= 2);
  }
}
