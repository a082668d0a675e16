#include "workloads/trace/larger_pages.hpp"

#include <random>

#include "tests/catch.hpp"

using namespace sdsm;
using namespace sdsm::trace;

namespace {

constexpr Bytes kib(std::int64_t count) {
  return {count * 1024};
}

TouchRun reads(std::uint64_t first, std::uint32_t pages = 1, std::uint8_t position = 0) {
  return {RegionId{0}, pages, first, Access::read, position, {}};
}
TouchRun writes(std::uint64_t first, Change change, std::uint32_t pages = 1, std::uint8_t position = 0) {
  return {RegionId{0}, pages, first, Access::write, position, change};
}

Region region(std::uint64_t pages, std::uint32_t lead = 0) {
  return {{.kind = RegionKind::heap_block, .pages = pages}, RegionId{0}, lead};
}

std::vector<TouchRun> merged(const std::vector<TouchRun>& touches, const std::vector<LinesRun>& lines, Bytes page,
                             std::uint32_t lead = 0) {
  return LargerPages({region(1000, lead)}, page).of({.touches = touches, .lines = lines}).touches;
}

constexpr Change whole{1024, 1};

}  // namespace

TEST_CASE("a larger page is read once, at its first part's read") {
  CHECK(merged({reads(0), reads(1, 1, 9), reads(5, 3, 200)}, {}, kib(8)) == std::vector{reads(0), reads(2, 2, 200)});
  CHECK(merged({reads(0, 16)}, {}, kib(64)) == std::vector{reads(0)});
  CHECK(merged({reads(0, 17)}, {}, kib(16)) == std::vector{reads(0, 5)});
}

TEST_CASE("a written part makes the larger page written, without later reads") {
  CHECK(merged({reads(1, 1, 3), writes(0, whole, 1, 7)}, {}, kib(8)) ==
        std::vector{reads(0, 1, 3), writes(0, whole, 1, 7)});
  CHECK(merged({writes(0, whole, 1, 3), reads(1, 1, 7)}, {}, kib(8)) == std::vector{writes(0, whole, 1, 3)});
}

TEST_CASE("runs of changed words join where parts meet") {
  // Two whole parts: 2048 words in one run. Four: 4096.
  CHECK(merged({writes(0, whole, 2)}, {}, kib(8)) == std::vector{writes(0, {2048, 1})});
  CHECK(merged({writes(0, whole, 4)}, {}, kib(16)) == std::vector{writes(0, {4096, 1})});
  // The first part changed in its last word, the second in its first: 3 + 2 runs with one in common.
  const Change first{10, 3}, second{20, 2};
  const auto of = [&](bool last_of_first, bool first_of_second) {
    return merged({writes(0, first), writes(1, second)},
                  {{{1, false, last_of_first}, 1}, {{1, first_of_second, false}, 1}}, kib(8));
  };
  CHECK(of(true, true) == std::vector{writes(0, {30, 4})});
  CHECK(of(true, false) == std::vector{writes(0, {30, 5})});
  CHECK(of(false, true) == std::vector{writes(0, {30, 5})});
  // They join in the other order of touches, too; at a boundary of pages nothing joins.
  CHECK(merged({writes(1, second), writes(0, first)}, {{{1, true, false}, 1}, {{1, false, true}, 1}}, kib(8)) ==
        std::vector{writes(0, {30, 4})});
  CHECK(merged({writes(1, first), writes(2, second)}, {{{1, false, true}, 1}, {{1, true, false}, 1}}, kib(8)) ==
        std::vector{writes(0, first), writes(1, second)});
  // An unchanged part joins nothing.
  CHECK(merged({writes(0, whole), writes(1, {})}, {}, kib(8)) == std::vector{writes(0, whole)});
}

TEST_CASE("larger pages lie on multiples of their size, whatever the region") {
  // Region page 0 lies 3 pages behind a boundary of 64 KiB: with it ends a page of 16 KiB, and half of one of 8.
  CHECK(merged({reads(0), reads(1)}, {}, kib(16), 3) == std::vector{reads(0, 2)});
  CHECK(merged({reads(0), reads(1)}, {}, kib(8), 3) == std::vector{reads(0, 2)});
  CHECK(merged({reads(1), reads(2)}, {}, kib(8), 3) == std::vector{reads(1)});
  const auto pages = [](std::uint64_t count, std::uint32_t lead, Bytes page) {
    return LargerPages::regions({region(count, lead)}, page)[0].pages;
  };
  CHECK(pages(2, 3, kib(16)) == 2);
  CHECK(pages(1, 3, kib(16)) == 1);
  CHECK(pages(16, 0, kib(64)) == 1);
  CHECK(pages(16, 1, kib(64)) == 2);
  CHECK(pages(5, 0, kib(4)) == 5);
}

TEST_CASE("an atomic operation is on the larger page of its byte") {
  LargerPages pages({region(10, 1)}, kib(8));
  const Interval interval{.end = {EventKind::atomic, 1, 0, 4096 + 8}};
  CHECK(pages.of(interval).end.value == 2 * 4096 + 8);  // page 1, of the region's pages of 8 KiB from its first on
}

TEST_CASE("larger pages of random intervals match a model of the memory") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    constexpr std::size_t pages = 40, page_words = 1024;
    const std::uint32_t lead = random() % 16;
    const std::uint32_t parts = 2U << random() % 4;
    std::vector<char> changed(pages * page_words);
    std::vector<std::pair<std::uint64_t, Access>> order;
    std::vector<TouchRun> touches;
    std::vector<LinesRun> lines;
    std::vector<int> state(pages);  // 1: was read, 2: was written
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t page = random() % pages;
      const bool is_write = random() % 2 == 0;
      if (state[page] == 2 || (!is_write && state[page] == 1)) continue;
      state[page] = is_write ? 2 : 1;
      order.emplace_back(page, is_write ? Access::write : Access::read);
      const auto position = static_cast<std::uint8_t>(i * 4);
      if (!is_write) {
        touches.push_back(reads(page, 1, position));
        continue;
      }
      char* const words = changed.data() + page * page_words;
      const std::uint32_t kind = random() % 4;  // none, all, and two of some
      for (std::size_t w = 0; w < page_words; ++w) words[w] = kind == 1 || (kind > 1 && random() % 3 > 0);
      Change change{};
      for (std::size_t w = 0; w < page_words; ++w) {
        if (words[w]) ++change.words;
        change.runs += words[w] && (w == 0 || !words[w - 1]);
      }
      touches.push_back(writes(page, change, 1, position));
      if (is_partial(change)) lines.push_back({{1, words[0] != 0, words[page_words - 1] != 0}, 1});
    }

    // The oracle: bytes of memory, cut at its own multiples.
    std::vector<TouchRun> expected;
    std::vector<std::vector<int>> seen(2, std::vector<int>(pages + 16));
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto [page, access] = order[i];
      const std::uint64_t larger = (page + lead % parts) / parts;
      if (seen[1][larger] || (access == Access::read && seen[0][larger])) continue;
      seen[access == Access::write][larger] = 1;
      Change change{};
      for (std::size_t p = 0; access == Access::write && p < pages; ++p) {
        if ((p + lead % parts) / parts != larger) continue;
        for (std::size_t w = p * page_words; w < (p + 1) * page_words; ++w) {
          const bool is_first = w == p * page_words && (p + lead % parts) % parts == 0;
          if (changed[w]) ++change.words;
          change.runs += changed[w] && (w == 0 || is_first || !changed[w - 1]);
        }
      }
      expected.push_back({RegionId{0}, 1, larger, access, touches[i].position, change});
    }
    LargerPages larger({region(pages, lead)}, parts * least_page);
    std::vector<TouchRun> single;
    for (const TouchRun& run : larger.of({.touches = touches, .lines = lines}).touches) {
      for (std::uint64_t page = run.first; page < run.first + run.pages; ++page) {
        single.push_back({run.region, 1, page, run.access, run.position, run.change});
      }
    }
    CAPTURE(seed);
    CHECK(single == expected);
  }
}

TEST_CASE("a page has 4096 times a power of two bytes") {
  CHECK(parse_page_size("8KiB") == Bytes{8192});
  CHECK(parse_page_size("8192") == Bytes{8192});
  CHECK(parse_page_size("4096B") == Bytes{4096});
  CHECK(parse_page_size("64KiB") == Bytes{65536});
  CHECK_THROWS_WITH(parse_page_size("2048"), ContainsSubstring("smaller than a trace's"));
  CHECK_THROWS_WITH(parse_page_size("12KiB"), ContainsSubstring("not 4096 times"));
  CHECK_THROWS_WITH(parse_page_size("128KiB"), ContainsSubstring("at most 64KiB"));
  CHECK_THROWS(parse_page_size("8 pages"));
}
