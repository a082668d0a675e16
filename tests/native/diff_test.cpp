#include "native/tracer/record/diff.hpp"

#include <array>
#include <cstdint>

#include "tests/catch.hpp"

using namespace sdsm;
using namespace sdsm::tracer;

namespace {

using PageWords = std::array<std::uint32_t, 1024>;

Change change_between(const PageWords& page, const PageWords& twin) {
  ChangeMap map;
  find_changes(page.data(), twin.data(), map);
  return count_changes(map);
}

}  // namespace

TEST_CASE("equal pages have no changed word and no run") {
  const PageWords twin{};
  CHECK(change_between(twin, twin) == Change{0, 0});
}

TEST_CASE("words 0, 1, 2 and 1023 make 4 words in 2 runs") {
  PageWords page{};
  const PageWords twin{};
  page[0] = page[1] = page[2] = page[1023] = 1;
  CHECK(change_between(page, twin) == Change{4, 2});
}

TEST_CASE("words 63 and 64 are one run across blocks") {
  PageWords page{};
  const PageWords twin{};
  page[63] = page[64] = 1;
  CHECK(change_between(page, twin) == Change{2, 1});
}

TEST_CASE("every second word makes 512 runs, every word one") {
  PageWords page{};
  const PageWords twin{};
  for (std::size_t i = 0; i < page.size(); i += 2) page[i] = 1;
  CHECK(change_between(page, twin) == Change{512, 512});
  page.fill(7);
  CHECK(change_between(page, twin) == Change{1024, 1});
}

TEST_CASE("a word of which one byte changed counts as a word") {
  PageWords page{};
  const PageWords twin{};
  reinterpret_cast<unsigned char*>(page.data())[4 * 100 + 3] = 1;
  CHECK(change_between(page, twin) == Change{1, 1});
}

TEST_CASE("lines of 64 bytes and page ends among the changed words") {
  PageWords page{};
  const PageWords twin{};
  const auto lines = [&] {
    ChangeMap map;
    find_changes(page.data(), twin.data(), map);
    return find_lines(map.bits);
  };
  CHECK(lines() == ChangedLines{0, false, false});
  page[15] = 1;  // the last word of line 0
  CHECK(lines() == ChangedLines{1, false, false});
  page[16] = page[5 * 16 + 7] = page[63 * 16] = 1;
  CHECK(lines() == ChangedLines{std::uint64_t{1} << 63 | 1 << 5 | 3, false, false});
  page[0] = page[1023] = 1;
  CHECK(lines() == ChangedLines{std::uint64_t{1} << 63 | 1 << 5 | 3, true, true});
  page.fill(7);
  CHECK(lines() == ChangedLines{~std::uint64_t{0}, true, true});
}
