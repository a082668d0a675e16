/// Damaged, truncated and foreign files: each is refused with a text that says where, or is read as a valid trace.
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <system_error>

#include "tests/campaign.hpp"
#include "tests/catch.hpp"
#include "tests/workloads/trace/format_1.hpp"
#include "tests/workloads/trace/samples.hpp"
#include "workloads/trace/dump.hpp"
#include "workloads/trace/file_layout.hpp"
#include "workloads/trace/limits.hpp"
#include "workloads/trace/reader.hpp"
#include "workloads/trace/varint.hpp"

using namespace sdsm;
using namespace sdsm::trace;
using nlohmann::json;

namespace {

std::size_t below(std::mt19937_64& random, std::size_t limit) {
  return random() % limit;
}

/// The trace in `bytes`, or nothing if the reader refuses them with a FormatError that names the file. Any other
/// exception is a failed test.
std::optional<Trace> try_read(const Scratch& scratch, const FileBytes& bytes) {
  const auto path = scratch / "tried.trace";
  store(bytes, path);
  try {
    return read(path);
  } catch (const FormatError& error) {
    REQUIRE(std::string(error.what()).find(path.string() + ": byte ") == 0);
    return std::nullopt;
  }
}

std::string error_of(const Scratch& scratch, const FileBytes& bytes) {
  const auto path = scratch / "tried.trace";
  store(bytes, path);
  try {
    (void)read(path);
  } catch (const FormatError& error) {
    return std::string(error.what()).substr(path.string().size());
  }
  return "no error";
}

FileBytes bytes_of(const Scratch& scratch, const Trace& trace) {
  write(trace, scratch / "written.trace");
  return load(scratch / "written.trace");
}

/// Kinds of damage: a bit turns, bytes change, vanish, appear, move, or come from elsewhere.
void damage(std::mt19937_64& random, FileBytes& bytes, const FileBytes& other) {
  const auto span = [&](const FileBytes& in) {
    const std::size_t from = below(random, in.size() + 1);
    return std::pair{from, std::min(in.size(), from + 1 + below(random, 1 + below(random, 64)))};
  };
  if (bytes.empty()) bytes.push_back(0);
  switch (below(random, 7)) {
    case 0: bytes[below(random, bytes.size())] ^= static_cast<std::uint8_t>(1U << below(random, 8)); break;
    case 1: bytes[below(random, bytes.size())] = static_cast<std::uint8_t>(random()); break;
    case 2:
      bytes[below(random, bytes.size())] = std::array<std::uint8_t, 4>{0, 0x7f, 0x80, 0xff}[below(random, 4)];
      break;
    case 3: bytes.resize(below(random, bytes.size())); break;
    case 4: {
      const auto [from, to] = span(bytes);
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.begin() + static_cast<std::ptrdiff_t>(to));
      break;
    }
    case 5: {
      const auto [from, to] = span(other);
      const FileBytes piece(other.begin() + static_cast<std::ptrdiff_t>(from),
                            other.begin() + static_cast<std::ptrdiff_t>(to));
      const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(below(random, bytes.size() + 1));
      bytes.insert(at, piece.begin(), piece.end());
      break;
    }
    default: {
      const auto [from, to] = span(other);
      const std::size_t at = below(random, bytes.size());
      for (std::size_t i = from; i < to && at + i - from < bytes.size(); ++i) bytes[at + i - from] = other[i];
    }
  }
}

/// A trace is valid if the writer takes it and the reader returns it unchanged. (Format 1 lacks lines.)
void require_valid(const Scratch& scratch, Trace trace) {
  for (auto& intervals : trace.threads) {
    for (Interval& interval : intervals) {
      if (interval.lines.empty()) fill_lines(interval);
    }
  }
  write(trace, scratch / "again.trace");
  const Trace again = read(scratch / "again.trace");
  REQUIRE(again.header == trace.header);
  REQUIRE(again.regions == trace.regions);
  REQUIRE(again.threads.size() == trace.threads.size());
  // Runs that the writer merges may be apart in a forged file, so runs are compared page by page sums.
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    REQUIRE(again.threads[thread].size() == trace.threads[thread].size());
    for (std::size_t i = 0; i < trace.threads[thread].size(); ++i) {
      const Interval& one = trace.threads[thread][i];
      const Interval& two = again.threads[thread][i];
      REQUIRE(one.end == two.end);
      REQUIRE(one.compute_ns == two.compute_ns);
      REQUIRE(one.lines == two.lines);
      REQUIRE(one.sites == two.sites);
      std::uint64_t pages = 0;
      for (const TouchRun& run : one.touches) pages += run.pages;
      for (const TouchRun& run : two.touches) pages -= run.pages;
      REQUIRE(pages == 0);
    }
  }
}

struct Tally {
  std::uint64_t refused = 0;
  std::uint64_t read = 0;
};

/// Each kind of campaign must reach both ends, else it tests less than it says.
void campaign(const std::vector<Trace>& traces, std::uint64_t usual, std::uint64_t number, bool checksums_hold_it,
              const std::function<FileBytes(std::mt19937_64&, const FileBytes&, const FileBytes&)>& mutate) {
  const Scratch scratch;
  const std::uint64_t count = test::rounds(usual);
  std::mt19937_64 random(test::seed(number));
  std::vector<FileBytes> files;
  for (const Trace& trace : traces) files.push_back(bytes_of(scratch, trace));
  std::vector<Trace> known = traces;
  for (const Trace& trace : traces) {
    files.push_back(write_format_1(trace));
    known.push_back(as_format_1(trace));
  }
  std::sort(files.begin(), files.end(), [](const FileBytes& a, const FileBytes& b) { return a.size() < b.size(); });
  // Large ones take most of the time, and are damaged like the others.
  constexpr std::size_t large = 2, large_each = 50;
  const auto choose = [&] {
    return below(random, below(random, large_each) == 0 ? files.size() : files.size() - large);
  };
  Tally tally;
  for (std::uint64_t round = 0; round < count; ++round) {
    const std::size_t which = choose();
    const FileBytes bytes = mutate(random, files[which], files[choose()]);
    INFO("round " << round << " of seed " << test::seed(number));
    const auto result = try_read(scratch, bytes);
    ++(result ? tally.read : tally.refused);
    if (!result) continue;
    if (checksums_hold_it) {
      REQUIRE(std::find(known.begin(), known.end(), *result) != known.end());
    } else {
      require_valid(scratch, *result);
    }
  }
  WARN(tally.refused << " refused, " << tally.read << " read");
  CHECK(tally.refused > count / 4);
}

std::vector<Trace> fuzzed_traces() {
  std::mt19937_64 random(42);
  std::vector<Trace> traces = {small_trace()};
  for (int i = 0; i < 6; ++i) traces.push_back(random_trace(random, 4, 12, 40));
  // Blocks of one thread that follow each other, with an interval across them.
  traces.push_back(random_trace(random, 1, 3, 40'000));
  return traces;
}

/// Other events, or in another order or number, with totals and lines that fit.
FileBytes with_other_events(std::mt19937_64& random, const FileBytes& file, const FileBytes& /*other*/) {
  const Scratch scratch;
  store(file, scratch / "whole.trace");
  Trace trace = read(scratch / "whole.trace");
  constexpr std::array<std::uint64_t, 9> values{0, 1, 2, 3, 255, 1ULL << 31, (1ULL << 32) - 1, 1ULL << 53, ~0ULL};
  for (std::size_t changes = 1 + below(random, 4); changes > 0; --changes) {
    auto& intervals = trace.threads[below(random, trace.threads.size())];
    if (intervals.empty()) continue;
    const auto at = intervals.begin() + static_cast<std::ptrdiff_t>(below(random, intervals.size()));
    switch (below(random, 8)) {
      case 0: at->end.kind = static_cast<EventKind>(below(random, event_kinds)); break;
      case 1: at->end.detail = static_cast<std::uint8_t>(below(random, 8)); break;
      case 2: at->end.object = values[below(random, values.size())]; break;
      case 3: at->end.value = values[below(random, values.size())]; break;
      case 4: at->compute_ns = values[below(random, values.size())]; break;
      case 5: intervals.erase(at); break;
      case 6: intervals.insert(at, Interval(*at)); break;
      default: std::swap(*at, intervals[below(random, intervals.size())]); break;
    }
  }
  try {
    return bytes_of(scratch, trace);
  } catch (const std::exception&) {
    return {};  // no trace, as the writer says
  }
}

std::uint64_t page_touches(const Trace& trace) {
  std::uint64_t pages = 0;
  for (const auto& intervals : trace.threads) {
    for (const Interval& interval : intervals) {
      for (const TouchRun& run : interval.touches) pages += run.pages;
    }
  }
  return pages;
}

FileBytes with_damaged_blocks(std::mt19937_64& random, const FileBytes& file, const FileBytes& other) {
  Parts parts = take_apart(file);
  const Parts others = take_apart(other);
  if (parts.blocks.empty() || others.blocks.empty()) return file;
  for (std::size_t i = below(random, 3) + 1; i > 0; --i) {
    damage(random, parts.blocks[below(random, parts.blocks.size())].content,
           others.blocks[below(random, others.blocks.size())].content);
  }
  return put_together(parts);
}

FileBytes with_another_value_in_the_footer(std::mt19937_64& random, const FileBytes& file, const FileBytes& /*other*/) {
  const Parts parts = take_apart(file);
  json footer = json::parse(footer_text(parts));
  const json values = json::parse(R"([0, 1, -1, 255, 65536, 4294967295, 9223372036854775807, 18446744073709551615, 1.5,
                                      1e300, true, null, "", "read", [], {}, [1, 2, 3]])");
  json flat = footer.flatten();
  auto entry = flat.begin();
  std::advance(entry, static_cast<std::ptrdiff_t>(below(random, flat.size())));
  footer[json::json_pointer(entry.key())] = values[below(random, values.size())];
  return put_together(parts, footer.dump());
}

}  // namespace

TEST_CASE("a truncated file is refused, wherever it ends") {
  const Scratch scratch;
  const FileBytes whole = bytes_of(scratch, small_trace());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO("cut to " << size);
    REQUIRE_FALSE(try_read(scratch, FileBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))));
  }
}

TEST_CASE("a flipped bit is detected or harmless") {
  const Scratch scratch;
  const FileBytes whole = bytes_of(scratch, small_trace());
  int harmless = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    FileBytes bytes = whole;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    INFO("bit " << bit % 8 << " of byte " << bit / 8);
    if (const auto trace = try_read(scratch, bytes)) {
      ++harmless;
      REQUIRE(*trace == small_trace());
    }
  }
  CHECK(harmless < 16);  // a compressed frame's head has an unused bit
}

TEST_CASE("damaged files are refused or read as they were") {
  campaign(fuzzed_traces(), 4000, 1, true, [](auto& random, const FileBytes& file, const FileBytes& other) {
    FileBytes bytes = file;
    for (std::size_t i = below(random, 3) + 1; i > 0; --i) damage(random, bytes, other);
    return bytes;
  });
}

TEST_CASE("heads and tails of two files are refused or match one") {
  campaign(fuzzed_traces(), 1000, 2, true, [](auto& random, const FileBytes& file, const FileBytes& other) {
    FileBytes bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(below(random, file.size())));
    bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(below(random, other.size())), other.end());
    return bytes;
  });
}

TEST_CASE("damaged blocks with right checksums are refused or valid traces") {
  campaign(fuzzed_traces(), 1000, 3, false, with_damaged_blocks);
}

TEST_CASE("moved, doubled or missing blocks are refused or valid traces") {
  campaign(fuzzed_traces(), 2000, 4, false, [](auto& random, const FileBytes& file, const FileBytes& other) {
    Parts parts = take_apart(file);
    const Parts others = take_apart(other);
    if (parts.blocks.empty() || others.blocks.empty()) return file;
    Parts::Block& block = parts.blocks[below(random, parts.blocks.size())];
    switch (below(random, 5)) {
      case 0: std::swap(block, parts.blocks[below(random, parts.blocks.size())]); break;
      case 1: parts.blocks.push_back(Parts::Block(block)); break;
      case 2: block = others.blocks[below(random, others.blocks.size())]; break;
      case 3: block.thread = static_cast<std::uint32_t>(below(random, 6)); break;
      default: parts.blocks.erase(parts.blocks.begin());
    }
    return put_together(parts);
  });
}

TEST_CASE("a damaged footer with a right checksum is refused or valid") {
  campaign(fuzzed_traces(), 2000, 5, false, [](auto& random, const FileBytes& file, const FileBytes& other) {
    const Parts parts = take_apart(file);
    const std::string text = footer_text(parts);
    const std::string other_text = footer_text(take_apart(other));
    FileBytes bytes(text.begin(), text.end());
    damage(random, bytes, FileBytes(other_text.begin(), other_text.end()));
    return put_together(parts, std::string(bytes.begin(), bytes.end()));
  });
}

TEST_CASE("wrong footer values with a right checksum are refused or valid") {
  campaign(fuzzed_traces(), 4000, 6, false, with_another_value_in_the_footer);
}

TEST_CASE("readable damaged files are kept for the commands to play", "[.forged]") {
  const char* folder = std::getenv("SDSM_FORGED");  // beside real traces, of which they are made
  REQUIRE(folder != nullptr);
  const Scratch scratch;
  std::mt19937_64 random(test::seed(7));
  std::vector<FileBytes> files;
  std::set<std::filesystem::path> real;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder).parent_path())) {
    if (entry.path().extension() == ".trace") real.insert(entry.path());
  }
  for (const auto& path : real) {
    files.push_back(load(path));
    const FileBytes older = write_format_1(read(path));
    if (try_read(scratch, older)) files.push_back(older);  // format 1 has not all kinds of events
  }
  constexpr std::array mutations{with_other_events, with_other_events, with_another_value_in_the_footer,
                                 with_damaged_blocks};
  for (std::uint64_t number = 0; number < test::rounds(40);) {
    const auto mutate = mutations[below(random, mutations.size())];
    const FileBytes bytes = mutate(random, files[below(random, files.size())], files[below(random, files.size())]);
    const auto trace = try_read(scratch, bytes);
    // More touches rightly take long to play.
    constexpr std::uint64_t most_touches = 1'000'000;
    if (!trace || page_touches(*trace) > most_touches) continue;
    store(bytes, std::filesystem::path(folder) /
                     (std::to_string(number++) + "-" + std::to_string(trace->threads.size()) + ".trace"));
  }
}

TEST_CASE("a wrong trailer with a right checksum is refused") {
  const Scratch scratch;
  const FileBytes whole = bytes_of(scratch, small_trace());
  const std::size_t trailer = whole.size() - trailer_bytes;
  const auto offset = load_little_endian<std::uint64_t>(&whole[trailer]);
  const auto stored = load_little_endian<std::uint64_t>(&whole[trailer + 8]);
  const auto raw = load_little_endian<std::uint32_t>(&whole[trailer + 16]);
  const std::vector<std::uint8_t> footer(whole.begin() + static_cast<std::ptrdiff_t>(offset),
                                         whole.begin() + static_cast<std::ptrdiff_t>(trailer));
  const auto with = [&](const Trailer& changed) {
    FileBytes bytes = whole;
    const TrailerBytes encoded = encode_trailer(changed, footer);
    std::copy(encoded.begin(), encoded.end(), bytes.begin() + static_cast<std::ptrdiff_t>(trailer));
    return try_read(scratch, bytes);
  };
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  CHECK(with({offset, stored, raw}) == small_trace());
  for (const Trailer& wrong : std::vector<Trailer>{{offset + 1, stored, raw},
                                                   {offset, stored + 1, raw},
                                                   {offset - 1, stored + 1, raw},
                                                   {most, stored, raw},
                                                   {offset, most, raw},
                                                   {most - stored, stored, raw},
                                                   {offset, stored, raw + 1},
                                                   {offset, stored, raw - 1},
                                                   {offset, stored, 0},
                                                   {offset, stored, 0xffff'ffff}}) {
    CHECK_FALSE(with(wrong));
  }
}

TEST_CASE("an error names the file, the byte and the problem") {
  const Scratch scratch;
  const FileBytes whole = bytes_of(scratch, small_trace());
  const auto starts = [](const std::string& text, const std::string& start) {
    INFO(text);
    CHECK(text.substr(0, start.size()) == start);
  };
  starts(error_of(scratch, {}), ": byte 0: the file is empty");
  starts(error_of(scratch, FileBytes(500, 'x')), ": byte 0: not an sdsm trace");
  starts(error_of(scratch, FileBytes(whole.begin(), whole.begin() + 20)), ": byte 20: cut short");
  starts(error_of(scratch, FileBytes(whole.begin(), whole.end() - 1)),
         ": byte " + std::to_string(whole.size() - 9) + ": cut short or overwritten");
  FileBytes bytes = whole;
  bytes[8] = 4;
  starts(error_of(scratch, bytes), ": byte 8: trace format 4, but this program reads formats 1 to 3");
  bytes[8] = 0;
  starts(error_of(scratch, bytes), ": byte 8: trace format 0, but this program reads formats 1 to 3");
  bytes[8] = 1;
  CHECK_THAT(error_of(scratch, bytes), ContainsSubstring("in the footer: \"format\" is 3 instead of 1"));
  bytes = whole;
  bytes[30] ^= 0x10;
  starts(error_of(scratch, bytes), ": byte 16: block 0 (thread 0): damaged");
  bytes = whole;
  bytes[whole.size() - 40] ^= 1;
  const auto footer = load_little_endian<std::uint64_t>(&whole[whole.size() - trailer_bytes]);
  starts(error_of(scratch, bytes), ": byte " + std::to_string(footer) + ": damaged: the footer");

  Parts parts = take_apart(whole);
  parts.blocks[0].content[0] = event_kinds;  // the first interval's event kind
  starts(error_of(scratch, put_together(parts)), ": byte 16: block 0 (thread 0), byte ");
}

TEST_CASE("impossible numbers of runs or pages allocate no memory") {
  const Scratch scratch;
  Parts parts = take_apart(bytes_of(
      scratch,
      {.header = header_for(1), .regions = heap_blocks(1, 10), .threads = {{{.end = {.kind = EventKind::end}}}}}));
  REQUIRE(parts.blocks[0].content == FileBytes{14, 0, 0});  // `end`, 0 ns, no runs and no sections
  FileBytes too_many = {14, 0};
  write_varint(too_many, (std::uint64_t{1} << 61) << section_flags::shift);
  for (const auto& [content, problem] : std::vector<std::pair<FileBytes, std::string>>{
           {too_many, "2305843009213693952 runs in the rest"},
           {{14, 0, 8, 0}, "2 runs in the rest"},                      // but one byte
           {{14, 0, 4, 0x10}, "a run of 0 pages"},                     // whose length lies behind the block
           {{14, 0, 4, 0x60}, "a run that goes on behind the block"},  // its position does
           {{14}, "goes on behind the block"}}) {
    parts.blocks[0].content = content;
    CHECK_THAT(error_of(scratch, put_together(parts)), ContainsSubstring(problem));
  }
}

TEST_CASE("sections of lines and sites hold no more than the pages") {
  const Scratch scratch;
  Trace trace{.header = header_for(1), .regions = heap_blocks(1, 10), .threads = {{}}};
  trace.header.sites = {{"a", 1}, {"a", 2}};
  trace.threads[0] = {{.touches = {{.pages = 2, .access = Access::write, .change = {1, 1}}},
                       .end = {.kind = EventKind::end},
                       .lines = {{{.lines = 4}, 2}},
                       .sites = {{1, 2}}}};
  Parts parts = take_apart(bytes_of(scratch, trace));
  const FileBytes whole = {14, 0, 7, 0x91, 2, 1, 1, 6, 0, 0x23, 0, 0, 0x23, 0, 4, 0, 1, 0, 1};
  REQUIRE(parts.blocks[0].content == whole);
  CHECK(try_read(scratch, put_together(parts)) == trace);
  const auto error_with = [&](const FileBytes& tail) {
    FileBytes content(whole.begin(), whole.begin() + 7);
    content.insert(content.end(), tail.begin(), tail.end());
    parts.blocks[0].content = content;
    const std::string error = error_of(scratch, put_together(parts));
    return error.substr(error.rfind(": ") + 2);
  };
  CHECK(error_with({0}) == "a section of 0 bytes of lines or sites in the rest");
  CHECK(error_with({200, 1, 0}) == "a section of 200 bytes of lines or sites in the rest");
  CHECK(error_with({9, 0, 0x23, 0, 0, 0x23, 0, 0, 0x23, 0, 4, 0, 1, 0, 1}) ==
        "a section of lines or sites for more pages than there are");
  CHECK(error_with({2, 0, 0x23, 4, 0, 1, 0, 1}) == "a section of lines or sites that ends amid a page");
  CHECK(error_with({6, 0, 0x23, 4, 0, 0x23, 0, 4, 0, 1, 0, 1}).find("no page has 1 changed words in 1 runs") == 0);
  CHECK(error_with({6, 0, 0x23, 0, 0, 0x23, 0, 4, 0, 1, 0, 2}) == "site 2, but the trace has 2");
  // A simulation skips what it does not need.
  store(put_together(parts), scratch / "a.trace");
  const File file(scratch / "a.trace");
  CHECK(file.thread(0).next()->touches == trace.threads[0][0].touches);
}

TEST_CASE("lines of far too many pages are refused quickly", "[unsanitized]") {
  const Scratch scratch;
  constexpr std::uint32_t pages = 1U << 20;
  Trace trace{.header = header_for(max_threads),
              .regions = heap_blocks(1, 200ULL * pages),
              .threads = std::vector<std::vector<Interval>>(max_threads)};
  Interval interval{.touches = {{.pages = pages, .access = Access::write, .change = {1, 1}}},
                    .end = {.kind = EventKind::task}};
  for (std::uint32_t i = 0; i < pages; ++i) interval.lines.push_back({{.lines = i % 2 == 0 ? 4U : 8U}, 1});
  trace.threads[0] = {interval};
  Parts parts = take_apart(bytes_of(scratch, trace));
  const auto read_all = [&] {
    store(put_together(parts), scratch / "a.trace");
    const File file(scratch / "a.trace");
    ThreadCursor cursor = file.thread(0, Detail::pages);
    while (cursor.next() != nullptr) {
    }
  };
  read_all();
  const FileBytes once = parts.blocks[0].content;
  REQUIRE(once.size() < 100);
  for (parts.blocks[0].intervals = 1; parts.blocks[0].intervals < 200; ++parts.blocks[0].intervals) {
    parts.blocks[0].content.insert(parts.blocks[0].content.end(), once.begin(), once.end());
  }
  parts.footer["threads"][0]["intervals"] = 200;
  // The footer's number of touches is looked at before all else, so more than that end it at once.
  CHECK_THROWS_WITH(read_all(),
                    ContainsSubstring("thread 0 has 1 intervals, 2 runs") && ContainsSubstring("but the footer says"));
  parts.footer["threads"][0]["page_touches"] = 200ULL * pages;
  CHECK_THROWS_WITH(read_all(), ContainsSubstring("than a file of this size tells of"));
}

TEST_CASE("repeated names of sites' files are refused before they take memory") {
  const Scratch scratch;
  Parts parts = take_apart(bytes_of(scratch, small_trace()));
  const auto with_sites = [&](std::size_t sites) {
    parts.footer["header"]["sites"] = {{"files", {std::string(1 << 20, 'x')}},
                                       {"file", std::vector<int>(sites)},
                                       {"address", std::vector<int>(sites)}};
    return contains(error_of(scratch, put_together(parts)), "names of the sites' files take more than");
  };
  CHECK_FALSE(with_sites(256));
  CHECK(with_sites(257));
}

TEST_CASE("a team number is above 0 and fits 32 bits") {
  const Scratch scratch;
  Trace trace{.header = header_for(2), .regions = {}, .threads = {{}, {}}};
  trace.threads[0] = {{.end = {.kind = EventKind::barrier, .value = 2, .team = 300}}};
  Parts parts = take_apart(bytes_of(scratch, trace));
  REQUIRE(parts.blocks[0].content == FileBytes{3, 5, 0xac, 2, 0, 0});
  CHECK(try_read(scratch, put_together(parts)) == trace);
  parts.blocks[0].content = {3, 5, 0, 0, 0};
  CHECK_THAT(error_of(scratch, put_together(parts)), ContainsSubstring("team 0"));
  parts.blocks[0].content = {3, 5, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0};
  CHECK_THAT(error_of(scratch, put_together(parts)), ContainsSubstring("team 4294967296"));
}

TEST_CASE("an unfinished interval is refused") {
  const Scratch scratch;
  Parts parts = take_apart(bytes_of(
      scratch,
      {.header = header_for(1), .regions = heap_blocks(1, 10), .threads = {{{.end = {.kind = EventKind::end}}}}}));
  parts.blocks.insert(parts.blocks.begin(), {.content = {0xff, 4, 0x60, 9}, .thread = 0, .intervals = 0});
  parts.footer["threads"][0]["touch_runs"] = 1;
  parts.footer["threads"][0]["page_touches"] = 1;
  const auto joined = try_read(scratch, put_together(parts));
  REQUIRE(joined);
  CHECK(joined->threads[0][0].touches == std::vector<TouchRun>{{.position = 9}});

  Parts wrong = parts;
  std::swap(wrong.blocks[0], wrong.blocks[1]);
  CHECK_THAT(error_of(scratch, put_together(wrong)), ContainsSubstring("last interval has no end"));
  wrong = parts;
  wrong.blocks[0].content = {0xff, 0};
  CHECK_THAT(error_of(scratch, put_together(wrong)), ContainsSubstring("without runs"));
  wrong = parts;
  wrong.blocks[0].content = {0xff, 4, 0x60, 9, 14, 0, 0};
  CHECK_THAT(error_of(scratch, put_together(wrong)), ContainsSubstring("before the block's end"));
  wrong = parts;
  wrong.blocks[1].content = {14, 0, 4, 0x60, 8};  // position 8 after 9
  CHECK_THAT(error_of(scratch, put_together(wrong)), ContainsSubstring("position that goes back"));
}

TEST_CASE("the footer's checksums detect two exchanged blocks") {
  const Scratch scratch;
  Trace trace{.header = header_for(1), .regions = {}, .threads = {{}}};
  for (std::uint64_t ns : {1, 2}) trace.threads[0].push_back({.compute_ns = ns, .end = {.kind = EventKind::flush}});
  Parts parts = take_apart(bytes_of(scratch, trace));
  REQUIRE(parts.blocks[0].content == FileBytes{11, 1, 0, 11, 2, 0});
  parts.blocks = {{.content = {11, 1, 0}, .thread = 0, .intervals = 1},
                  {.content = {11, 2, 0}, .thread = 0, .intervals = 1}};
  const std::string footer = footer_text(parts);
  CHECK(try_read(scratch, put_together(parts, footer)) == trace);
  std::swap(parts.blocks[0], parts.blocks[1]);
  CHECK_THAT(error_of(scratch, put_together(parts, footer)), ContainsSubstring("checksum is not the footer's"));
}

TEST_CASE("wrong totals are refused after the last interval") {
  const Scratch scratch;
  const Parts parts = take_apart(bytes_of(scratch, small_trace()));
  const auto* key = GENERATE("touch_runs", "page_touches", "compute_ns");
  Parts wrong = parts;
  wrong.footer["threads"][1][key] = 1;
  CHECK_THAT(error_of(scratch, put_together(wrong)), ContainsSubstring("but the footer says"));
  wrong = parts;
  wrong.footer["threads"][1]["events"]["flush"] = 1;
  CHECK_THAT(error_of(scratch, put_together(wrong)), ContainsSubstring("counts other events"));
}

TEST_CASE("a thread's intervals are those of its blocks") {
  const Scratch scratch;
  Parts parts = take_apart(bytes_of(scratch, small_trace()));
  parts.footer["threads"][1]["intervals"] = 7;
  store(put_together(parts), scratch / "a.trace");
  CHECK_THROWS_AS(File(scratch / "a.trace"), FormatError);

  parts.footer["threads"] = {parts.footer["threads"][0]};
  parts.footer["header"]["threads"] = 1;
  parts.footer["regions"] = json::array();
  parts.footer["threads"][0] = {
      {"intervals", 3}, {"touch_runs", 0}, {"page_touches", 0}, {"compute_ns", 6}, {"events", {{"flush", 3}}}};
  parts.blocks = {{.content = {11, 1, 0}, .thread = 0, .intervals = 1},
                  {.content = {11, 2, 0, 11, 3, 0}, .thread = 0, .intervals = 2}};
  CHECK(try_read(scratch, put_together(parts)));
  std::swap(parts.blocks[0].intervals, parts.blocks[1].intervals);
  CHECK_THAT(error_of(scratch, put_together(parts)), ContainsSubstring("1 intervals instead of 2"));
}

TEST_CASE("compute times beyond a thread's limit are refused") {
  const Scratch scratch;
  Trace trace{.header = header_for(1), .regions = {}, .threads = {{}}};
  trace.threads[0] = {{.compute_ns = max_compute_ns - 1, .end = {.kind = EventKind::flush}},
                      {.compute_ns = 1, .end = {.kind = EventKind::end}}};
  Parts parts = take_apart(bytes_of(scratch, trace));
  CHECK(try_read(scratch, put_together(parts)) == trace);
  FileBytes& content = parts.blocks[0].content;
  REQUIRE(content[content.size() - 2] == 1);
  content[content.size() - 2] = 2;
  CHECK_THAT(error_of(scratch, put_together(parts)), ContainsSubstring("more compute time than fits"));
}

TEST_CASE("a footer of brackets is refused before it takes memory") {
  const Scratch scratch;
  CHECK_THAT(error_of(scratch, put_together(Parts{}, std::string(10'000'000, '['))),
             ContainsSubstring("nested too deep"));
}

TEST_CASE("an error repeats at the next call") {
  const Scratch scratch;
  FileBytes bytes = bytes_of(scratch, small_trace());
  bytes[30] ^= 0x10;
  store(bytes, scratch / "a.trace");
  const File file(scratch / "a.trace");
  ThreadCursor cursor = file.thread(0);
  CHECK_THROWS_AS(cursor.next(), FormatError);
  CHECK_THROWS_AS(cursor.next(), FormatError);
  CHECK(file.thread(1).next() != nullptr);  // another thread's blocks are whole
}

TEST_CASE("a file that shrinks while it is read is refused") {
  const Scratch scratch;
  store(bytes_of(scratch, small_trace()), scratch / "a.trace");
  const File file(scratch / "a.trace");
  std::filesystem::resize_file(scratch / "a.trace", 20);
  CHECK_THROWS_AS(file.thread(0).next(), FormatError);
}

TEST_CASE("an irregular file is refused without waiting") {
  const Scratch scratch;
  CHECK_THROWS_AS(File(scratch / "missing.trace"), std::system_error);
  CHECK_THROWS_AS(File(scratch / ""), FormatError);
  const auto pipe = scratch / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(File(pipe), FormatError);
}
