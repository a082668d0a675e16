/// The writer's merging, its refusals, and its files on disk.
#include "workloads/trace/writer.hpp"

#include <sys/resource.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>
#include <system_error>

#include "tests/catch.hpp"
#include "tests/workloads/trace/samples.hpp"
#include "workloads/trace/content_error.hpp"
#include "workloads/trace/limits.hpp"
#include "workloads/trace/reader.hpp"
#include "workloads/trace/words.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

constexpr Event the_end{.kind = EventKind::end};

std::vector<TouchRun> merged(const std::vector<TouchRun>& touches) {
  const Scratch scratch;
  Interval interval{0, touches, the_end};
  fill_lines(interval);
  write({.header = header_for(1), .regions = heap_blocks(2, max_region_pages), .threads = {{interval}}},
        scratch / "merged.trace");
  return read(scratch / "merged.trace").threads[0][0].touches;
}

}  // namespace

TEST_CASE("touches of adjacent pages become one run") {
  const TouchRun page{.first = 10, .position = 3};
  TouchRun next = page;
  next.first = 11;
  TouchRun two_more = page;
  two_more.first = 12;
  two_more.pages = 2;
  CHECK(merged({page, next, two_more}) == std::vector<TouchRun>{{.pages = 4, .first = 10, .position = 3}});
}

TEST_CASE("touches that differ in more than the page stay apart") {
  const TouchRun page{.first = 10, .access = Access::write, .position = 3, .change = {4, 1}};
  const auto [what, change] = GENERATE(table<std::string, void (*)(TouchRun&)>({
      {"another region", [](TouchRun& next) { next.region = RegionId{1}; }},
      {"another position", [](TouchRun& next) { next.position = 4; }},
      {"another change",
       [](TouchRun& next) {
         next.change = {4, 2};
       }},
      {"a gap", [](TouchRun& next) { next.first = 12; }},
      {"the same page again", [](TouchRun& next) { next.first = 10; }},
      {"backwards", [](TouchRun& next) { next.first = 9; }},
      {"a read", [](TouchRun& next) { next.access = Access::read, next.change = {}; }},
  }));
  CAPTURE(what);
  TouchRun next = page;
  next.first = 11;
  change(next);
  CHECK(merged({page, next}) == std::vector<TouchRun>{page, next});
}

TEST_CASE("a run ends before its length overflows 32 bits") {
  const TouchRun most{.pages = 0xffff'ffff, .first = 0};
  const TouchRun next{.pages = 1, .first = 0xffff'ffff};
  CHECK(merged({most, next}) == std::vector<TouchRun>{most, next});
}

TEST_CASE("a value outside its range is refused without losing earlier ones") {
  const Scratch scratch;
  const Trace trace = small_trace();
  Writer writer(scratch / "a.trace", 2);
  writer.append(0, trace.threads[0][0]);
  const auto [what, spoil] = GENERATE(table<std::string, void (*)(Interval&)>({
      {"a position that goes back", [](Interval& wrong) { wrong.touches[3].position = 100; }},
      {"a change of more words than a page has",
       [](Interval& wrong) {
         wrong.touches[3].change = {1025, 1};
       }},
      {"an unknown access", [](Interval& wrong) { wrong.touches[3].access = static_cast<Access>(2); }},
      {"a run without pages", [](Interval& wrong) { wrong.touches[0].pages = 0; }},
      {"an unknown event", [](Interval& wrong) { wrong.end.kind = static_cast<EventKind>(event_kinds); }},
      {"a team of three threads out of two", [](Interval& wrong) { wrong.end.value = 3; }},
      {"lines of fewer pages than changed in part", [](Interval& wrong) { wrong.lines.pop_back(); }},
      {"lines of no pages", [](Interval& wrong) { wrong.lines.push_back({.changed = {.lines = 1}, .pages = 0}); }},
      {"lines that no change of that size has", [](Interval& wrong) { wrong.lines[1].changed.lines = 1; }},
      {"sites of fewer pages than were touched", [](Interval& wrong) { wrong.sites = {{.site = 0, .pages = 7}}; }},
      {"more time than picoseconds fit", [](Interval& wrong) { wrong.compute_ns = max_compute_ns - 1'000'000 + 1; }},
  }));
  CAPTURE(what);
  Interval wrong = trace.threads[0][1];
  spoil(wrong);
  CHECK_THROWS_AS(writer.append(0, wrong), std::invalid_argument);
  CHECK_THROWS_AS(writer.append(2, trace.threads[0][1]), std::invalid_argument);
  for (std::size_t i = 1; i < trace.threads[0].size(); ++i) writer.append(0, trace.threads[0][i]);
  for (const Interval& interval : trace.threads[1]) writer.append(1, interval);
  writer.finish(trace.header, trace.regions);
  CHECK(read(scratch / "a.trace") == trace);
}

TEST_CASE("regions that lack touched pages are refused, and can be corrected") {
  const Scratch scratch;
  Writer writer(scratch / "a.trace", 1);
  writer.append(0, {0, {{.region = RegionId{1}, .pages = 8, .first = 92}}, the_end});
  CHECK_THROWS_AS(writer.finish(header_for(2), heap_blocks(2, 100)), std::invalid_argument);
  CHECK_THROWS_AS(writer.finish(header_for(1), heap_blocks(1, 100)), std::invalid_argument);
  CHECK_THROWS_AS(writer.finish(header_for(1), heap_blocks(2, 99)), std::invalid_argument);
  writer.finish(header_for(1), heap_blocks(2, 100));
  CHECK(read(scratch / "a.trace").threads[0][0].touches[0].first == 92);
}

TEST_CASE("missing sites are refused, and can be corrected") {
  const Scratch scratch;
  const std::vector<TouchRun> touches = {{.pages = 8}};
  Header header = header_for(1);
  {
    Writer writer(scratch / "a.trace", 1);
    writer.append(0, {.touches = touches, .end = the_end, .sites = {{.site = 1, .pages = 8}}});
    header.sites = {{.file = "a", .address = 1}};
    CHECK_THROWS_AS(writer.finish(header, heap_blocks(1, 8)), std::invalid_argument);
    header.sites.push_back({.file = "a", .address = 2});
    writer.finish(header, heap_blocks(1, 8));
  }
  CHECK(read(scratch / "a.trace").threads[0][0].sites == std::vector<SiteRun>{{.site = 1, .pages = 8}});
  Writer writer(scratch / "b.trace", 1);
  writer.append(0, {.touches = touches, .end = the_end});
  CHECK_THROWS_AS(writer.finish(header, heap_blocks(1, 8)), std::invalid_argument);
  writer.finish(header_for(1), heap_blocks(1, 8));
}

TEST_CASE("accessed words round-trip, unknown pages and sites are refused") {
  const Scratch scratch;
  Header header = header_for(2);
  header.sites = {{.file = "a", .address = 1}};
  header.words = {.array = "field",
                  .rows = {{.thread = 1, .interval = 7, .region = 0, .page = 7, .access = 6, .site = 0, .set = 1},
                           {.thread = 0, .interval = 1ULL << 40, .region = 0, .page = 0, .access = 1, .site = 0}},
                  .sets = {{0, 1, 2, 1022}, {1023, 1}}};
  {
    Writer writer(scratch / "a.trace", 2);
    writer.finish(header, heap_blocks(1, 8));
  }
  CHECK(File(scratch / "a.trace").header() == header);
  for (auto change : {+[](WordsRow& row) { row.thread = 2; }, +[](WordsRow& row) { row.page = 8; },
                      +[](WordsRow& row) { row.region = 1; }, +[](WordsRow& row) { row.site = 1; },
                      +[](WordsRow& row) { row.set = 2; }}) {
    Header wrong = header;
    change(wrong.words.rows[0]);
    Writer writer(scratch / "b.trace", 2);
    CHECK_THROWS_AS(writer.finish(wrong, heap_blocks(1, 8)), std::invalid_argument);
  }
}

TEST_CASE("empty, unordered or too large sets of words are refused") {
  const nlohmann::json good = words_json({.array = "a", .rows = {}, .sets = {{0, 1, 2, 1022}}});
  CHECK(words_from(good).sets.size() == 1);
  for (const std::vector<std::uint32_t>& set :
       {std::vector<std::uint32_t>{}, {0}, {0, 0}, {1023, 2}, {4, 1, 5, 1}, {4, 1, 0, 1}, {1024, 1}}) {
    nlohmann::json wrong = good;
    wrong["sets"][0] = set;
    CHECK_THROWS_AS(words_from(wrong), ContentError);
  }
  nlohmann::json short_column = good;
  short_column["rows"]["page"].push_back(1);
  CHECK_THROWS_AS(words_from(short_column), ContentError);
}

TEST_CASE("the file gets its name only when it is finished") {
  const Scratch scratch;
  {
    Writer writer(scratch / "a.trace", 1);
    writer.append(0, {1, {}, the_end});
    CHECK_FALSE(std::filesystem::exists(scratch / "a.trace"));
    CHECK(std::filesystem::exists(scratch / "a.trace.part"));
  }
  CHECK_FALSE(std::filesystem::exists(scratch / "a.trace.part"));
  {
    Writer writer(scratch / "a.trace", 1);
    writer.append(0, {1, {}, the_end});
    writer.finish(header_for(1), {});
    CHECK_THROWS_AS(writer.append(0, {1, {}, the_end}), std::logic_error);
    CHECK_THROWS_AS(writer.finish(header_for(1), {}), std::logic_error);
  }
  CHECK(std::filesystem::exists(scratch / "a.trace"));
  CHECK_FALSE(std::filesystem::exists(scratch / "a.trace.part"));
}

TEST_CASE("only a finished trace replaces an old one") {
  const Scratch scratch;
  write(small_trace(), scratch / "a.trace");
  { const Writer abandoned(scratch / "a.trace", 1); }
  CHECK(read(scratch / "a.trace") == small_trace());
  const Trace empty{.header = header_for(1), .regions = {}, .threads = {{}}};
  write(empty, scratch / "a.trace");
  CHECK(read(scratch / "a.trace") == empty);
}

TEST_CASE("a dead run's leftover is overwritten") {
  const Scratch scratch;
  std::ofstream(scratch / "a.trace.part") << std::string(100'000, 'x');
  write(small_trace(), scratch / "a.trace");
  CHECK(read(scratch / "a.trace") == small_trace());
}

TEST_CASE("a second writer of one file is refused, and the first continues") {
  const Scratch scratch;
  Writer first(scratch / "a.trace", 1);
  CHECK_THROWS_AS(Writer(scratch / "a.trace", 1), std::system_error);
  first.append(0, {1, {}, the_end});
  first.finish(header_for(1), {});
  CHECK(read(scratch / "a.trace").threads[0].size() == 1);
}

TEST_CASE("an unwritable place is a system_error at once") {
  const Scratch scratch;
  CHECK_THROWS_AS(Writer(scratch / "no/such/folder.trace", 1), std::system_error);
  std::filesystem::create_directory(scratch / "folder.trace");
  CHECK_THROWS_AS(Writer(scratch / "folder.trace", 1), std::system_error);
  CHECK_THROWS_AS(Writer(scratch / "a.trace", 0), std::invalid_argument);
  CHECK_THROWS_AS(Writer(scratch / "a.trace", max_threads + 1), std::invalid_argument);
}

TEST_CASE("a full disk is a system_error, and leaves nothing behind") {
  const Scratch scratch;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 8192;
  {
    Writer writer(scratch / "a.trace", 1);
    setrlimit(RLIMIT_FSIZE, &small);
    std::mt19937_64 random(1);
    const auto fill = [&] {
      for (int i = 0; i < 1'000'000; ++i) {
        writer.append(0, {random() >> 40, {}, {.kind = EventKind::chunk, .object = random(), .value = random()}});
      }
    };
    CHECK_THROWS_AS(fill(), std::system_error);
    CHECK_THROWS_AS(writer.finish(header_for(1), {}), std::logic_error);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK_FALSE(std::filesystem::exists(scratch / "a.trace"));
  CHECK_FALSE(std::filesystem::exists(scratch / "a.trace.part"));
}

TEST_CASE("a name that is not UTF-8 is kept readable") {
  const Scratch scratch;
  Header header = header_for(1);
  header.program = {"caf\xe9"};
  Writer writer(scratch / "a.trace", 1);
  writer.finish(header, {});
  CHECK(File(scratch / "a.trace").header().program == std::vector<std::string>{"caf\xef\xbf\xbd"});
}
