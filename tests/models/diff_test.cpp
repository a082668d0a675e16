#include "models/diff.hpp"

#include "tests/catch.hpp"

using namespace sdsm;

TEST_CASE("a diff has 8 bytes, 4 per run and 4 per word") {
  CHECK(diff_bytes({0, 0}) == Bytes{0});
  CHECK(diff_bytes({1, 1}) == Bytes{8 + 4 + 4});
  CHECK(diff_bytes({10, 3}) == Bytes{8 + 12 + 40});
  CHECK(diff_bytes(whole_page) == Bytes{8 + 4 + 4096});
  CHECK(diff_bytes({512, 512}) == Bytes{8 + 2048 + 2048});
}

TEST_CASE("changes of two intervals add up, to a whole page at most") {
  CHECK(merge({0, 0}, {0, 0}) == Change{0, 0});
  CHECK(merge({3, 1}, {0, 0}) == Change{3, 1});
  CHECK(merge({0, 0}, {3, 1}) == Change{3, 1});
  CHECK(merge({3, 1}, {4, 2}) == Change{7, 3});
  CHECK(merge({900, 10}, {23, 5}) == Change{923, 15});
  CHECK(merge({1000, 10}, {23, 5}) == Change{1023, 2});  // one word is left between them
  CHECK(merge({1000, 10}, {24, 5}) == whole_page);
  CHECK(merge(whole_page, whole_page) == whole_page);
}

TEST_CASE("a merged change is one that a page can have, whatever was merged") {
  for (int a = 1; a <= 1024; a += 7) {
    for (int b = 1; b <= 1024; b += 5) {
      const auto most_runs = [](int words) { return static_cast<std::uint16_t>(words <= 512 ? words : 1025 - words); };
      const Change merged =
          merge({static_cast<std::uint16_t>(a), most_runs(a)}, {static_cast<std::uint16_t>(b), most_runs(b)});
      // Between two runs there is at least one word that did not change.
      if (merged.words > 1024 || merged.runs > merged.words || merged.words + merged.runs > 1025) {
        FAIL("merging " << a << " and " << b << " words gives " << merged.words << " words in " << merged.runs
                        << " runs");
      }
    }
  }
}
