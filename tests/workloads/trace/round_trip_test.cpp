/// Traces read back as written, and take no more bytes than necessary.
#include <limits>

#include "tests/campaign.hpp"
#include "tests/catch.hpp"
#include "tests/workloads/trace/format_1.hpp"
#include "workloads/trace/limits.hpp"
#include "workloads/trace/reader.hpp"
#include "workloads/trace/writer.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

Trace read_back(const Trace& trace) {
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  return read(scratch / "a.trace");
}

}  // namespace

TEST_CASE("a small trace of two threads is read as it was written") {
  CHECK(read_back(small_trace()) == small_trace());
}

TEST_CASE("the footer's totals are the sums over each thread's intervals") {
  const Scratch scratch;
  write(small_trace(), scratch / "small.trace");
  const File file(scratch / "small.trace");
  // Thread 0: 1 + 2048 pages, then four runs of two; 1 ms + 0.5 ms + 7 ns + 7 ns.
  CHECK(file.totals(0) == Totals{.intervals = 5, .touch_runs = 6, .page_touches = 2057, .compute_ns = 1'500'014});
  CHECK(file.totals(1) == Totals{.intervals = 6, .touch_runs = 2, .page_touches = 101, .compute_ns = 480'060});
  CHECK(file.events(1)[static_cast<std::size_t>(EventKind::barrier)] == 1);
  CHECK(file.events(1)[static_cast<std::size_t>(EventKind::fork)] == 0);
  CHECK(file.file_bytes() == std::filesystem::file_size(scratch / "small.trace"));
  CHECK_THROWS_AS(file.totals(2), std::out_of_range);
  CHECK_THROWS_AS(file.thread(2), std::out_of_range);
}

TEST_CASE("random traces are read as they were written") {
  std::mt19937_64 random(20050522);
  for (std::uint64_t round = 0; round < test::rounds(300); ++round) {
    const Trace trace = random_trace(random, 5, 40, 60);
    INFO("round " << round);
    REQUIRE(read_back(trace) == trace);
  }
}

TEST_CASE("random traces of format 1 are read as they were written") {
  const Scratch scratch;
  std::mt19937_64 random(20050522);
  for (std::uint64_t round = 0; round < test::rounds(30); ++round) {
    Trace trace = random_trace(random, 3, 20, round % 10 == 0 ? 20'000 : 60);
    for (auto& intervals : trace.threads) {
      // Flags came with format 2.
      std::erase_if(intervals, [](const Interval& interval) { return interval.end.kind > EventKind::end; });
    }
    store(write_format_1(trace), scratch / "random.trace");
    INFO("round " << round);
    REQUIRE(File(scratch / "random.trace").format() == 1);
    REQUIRE(read(scratch / "random.trace") == as_format_1(trace));
  }
}

TEST_CASE("a run of pages with different lines is split without loss") {
  Trace trace{
      .header = header_for(1), .regions = heap_blocks(1, 100'000), .threads = {{{.end = {.kind = EventKind::end}}}}};
  Interval& interval = trace.threads[0][0];
  interval.touches = {{.pages = 100'000, .access = Access::write, .position = 3, .change = {64, 64}}};
  for (std::uint64_t page = 0; page < 100'000; ++page) {
    interval.lines.push_back({.changed = {.lines = page * 0x9E37'79B9'7F4A'7C15 | 0x5555'5555'5555'5555}});
  }
  const Interval found = read_back(trace).threads[0][0];
  CHECK(found.lines == interval.lines);
  std::uint64_t next = 0;
  for (const TouchRun& run : found.touches) {
    REQUIRE(run ==
            TouchRun{.pages = run.pages, .first = next, .access = Access::write, .position = 3, .change = {64, 64}});
    next += run.pages;
  }
  CHECK(next == 100'000);
}

TEST_CASE("a trace without lines and sites reads the same otherwise") {
  const Scratch scratch;
  std::mt19937_64 random(3);
  const Trace trace = random_trace(random, 1, 40, 20'000);
  write(trace, scratch / "random.trace");
  ThreadCursor cursor = File(scratch / "random.trace").thread(0);
  for (const Interval& interval : trace.threads[0]) {
    const Interval* const read = cursor.next();
    REQUIRE(read != nullptr);
    CHECK(read->touches == interval.touches);
    CHECK(read->end == interval.end);
    CHECK(read->lines.empty());
  }
  CHECK(cursor.next() == nullptr);
}

TEST_CASE("an interval longer than a block goes on in the next") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 4; ++round) {
    const Trace trace = random_trace(random, 2, 4, 60'000);
    INFO("round " << round);
    REQUIRE(read_back(trace) == trace);
  }
}

TEST_CASE("intervals without touches fill blocks to the last byte") {
  Trace trace{.header = header_for(1), .regions = {}, .threads = {{}}};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    trace.threads[0].push_back(
        {.compute_ns = i * i, .touches = {}, .end = {.kind = EventKind::chunk, .object = i, .value = i % 7}});
  }
  CHECK(read_back(trace) == trace);
}

TEST_CASE("a trace of idle threads keeps which of them ended it") {
  Trace trace{.header = header_for(3), .regions = {}, .threads = std::vector<std::vector<Interval>>(3)};
  CHECK(read_back(trace) == trace);
  trace.header.ended_by = 2;
  CHECK(read_back(trace) == trace);
  trace.header.ended_by = 3;
  CHECK_THROWS(read_back(trace));
}

TEST_CASE("two writes of one trace give the same bytes") {
  const Scratch scratch;
  write(small_trace(), scratch / "a.trace");
  write(small_trace(), scratch / "b.trace");
  CHECK(load(scratch / "a.trace") == load(scratch / "b.trace"));
}

TEST_CASE("a cursor outlives its file object, and the file's name") {
  const Scratch scratch;
  write(small_trace(), scratch / "small.trace");
  auto file = std::make_unique<File>(scratch / "small.trace");
  ThreadCursor cursor = file->thread(0);
  file.reset();
  std::filesystem::remove(scratch / "small.trace");
  std::size_t intervals = 0;
  while (cursor.next() != nullptr) ++intervals;
  CHECK(intervals == 5);
  CHECK(cursor.next() == nullptr);
}

TEST_CASE("a million unordered touches take under eight bytes each") {
  // Unpredictable data must be stored: a page (11 bits), a position, two counts of up to ten bits, an access.
  std::mt19937_64 random(1);
  Trace trace{.header = header_for(1), .regions = heap_blocks(1, 2048), .threads = {{}}};
  for (int i = 0; i < 1000; ++i) {
    Interval interval{.compute_ns = random() % 1'000'000, .touches = {}, .end = {.kind = EventKind::flush}};
    for (unsigned k = 0; k < 1000; ++k) {
      TouchRun run{.first = random() % 2048, .position = static_cast<std::uint8_t>(k / 4)};
      run.access = static_cast<Access>(random() % 2);
      if (run.access == Access::write) {
        run.change.words = static_cast<std::uint16_t>(1 + random() % 512);
        run.change.runs = static_cast<std::uint16_t>(1 + random() % run.change.words);
      }
      interval.touches.push_back(run);
    }
    fill_lines(interval);
    trace.threads[0].push_back(std::move(interval));
  }
  const Scratch scratch;
  write(trace, scratch / "a.trace");
  CHECK(File(scratch / "a.trace").file_bytes() < 8'000'000);
  // Nor can the lines be foreseen that change: format 1 does not have them.
  CHECK(static_cast<double>(File(scratch / "a.trace").file_bytes()) <=
        1.2 * static_cast<double>(write_format_1(trace).size()));
}

TEST_CASE("a sweep of a gigabyte takes a few bytes") {
  const Scratch scratch;
  constexpr std::uint32_t pages = 1U << 18;
  Interval interval{.compute_ns = 1, .touches = {}, .end = {.kind = EventKind::end}};
  for (std::uint32_t page = 0; page < pages; ++page) interval.touches.push_back({.first = page});
  write({.header = header_for(1), .regions = heap_blocks(1, pages), .threads = {{interval}}}, scratch / "a.trace");
  CHECK(File(scratch / "a.trace").file_bytes() < 1000);
  CHECK(read(scratch / "a.trace").threads[0][0].touches == std::vector<TouchRun>{{.pages = pages}});
}
