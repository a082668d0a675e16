/// Diffs as they travel between processes: sizes as the model says, every byte kept, nothing else touched.
#include "native/dsm/diff.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "tests/catch.hpp"

namespace {

using namespace sdsm;
using namespace sdsm::dsm;

using Page = std::array<std::byte, 4096>;
using Buffer = std::array<std::byte, most_diff_bytes>;

/// Aligned as pages are.
struct Pages {
  alignas(64) Page page{};
  alignas(64) Page twin{};
  alignas(64) Page home{};
};

void set_word(Page& page, std::size_t word, std::uint32_t value) {
  std::memcpy(page.data() + 4 * word, &value, sizeof value);
}

EncodedDiff encode(Pages& pages, Buffer& buffer, std::uint64_t address = 0x200000001000) {
  return encode_diff(address, pages.page.data(), pages.twin.data(), buffer.data());
}

/// As the format is defined, word by word.
std::vector<std::uint32_t> diff_by_words(const Page& page, const Page& twin) {
  std::vector<std::uint32_t> diff;
  std::size_t head = 0;  ///< 0: no run is open
  for (std::size_t word = 0; word < words_per_page; ++word) {
    std::uint32_t now, before;
    std::memcpy(&now, page.data() + 4 * word, sizeof now);
    std::memcpy(&before, twin.data() + 4 * word, sizeof before);
    if (now == before) {
      head = 0;
      continue;
    }
    if (head == 0) {
      diff.push_back(static_cast<std::uint32_t>(word));
      head = diff.size();
    }
    diff[head - 1] += 1U << 16;
    diff.push_back(now ^ before);
  }
  return diff;
}

}  // namespace

TEST_CASE("a page that did not change has no diff") {
  Pages pages;
  Buffer buffer;
  const EncodedDiff diff = encode(pages, buffer);
  CHECK(diff.bytes == 0);
  CHECK(!diff.change);
}

TEST_CASE("a diff of three words in two runs has the size counted by hand") {
  Pages pages;
  Buffer buffer;
  set_word(pages.page, 0, 1);
  set_word(pages.page, 15, 2);
  set_word(pages.page, 16, 3);  // the run goes on over the border of what is compared at once
  const EncodedDiff diff = encode(pages, buffer);
  CHECK(diff.change == Change{3, 2});
  CHECK(diff.bytes == 8 + 2 * 4 + 3 * 4);
  CHECK(address_of_diff(buffer.data()) == 0x200000001000);
  REQUIRE(apply_diff(buffer.data(), diff.bytes, pages.home.data()));
  CHECK(pages.home == pages.page);
}

TEST_CASE("diffs of random pages bring the page home, have the model's size, and renew the twin") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Pages pages;
    Buffer buffer;
    for (std::byte& byte : pages.page) byte = static_cast<std::byte>(random());
    pages.twin = pages.page;
    pages.home = pages.page;
    const auto changes = static_cast<unsigned>(random() % 1500);
    for (unsigned i = 0; i < changes; ++i) pages.page[random() % 4096] = static_cast<std::byte>(random());
    const bool is_changed = pages.page != pages.twin;
    const EncodedDiff diff = encode(pages, buffer);
    REQUIRE(static_cast<bool>(diff.change) == is_changed);
    REQUIRE(diff.bytes == diff_bytes(diff.change).count);
    REQUIRE(pages.twin == pages.page);
    if (is_changed) REQUIRE(apply_diff(buffer.data(), diff.bytes, pages.home.data()));
    REQUIRE(pages.home == pages.page);
  }
}

TEST_CASE("both ways of encoding a diff write what the format says, whatever lies beside the changed words") {
  const auto encoder = GENERATE(encode_diff, encode_diff_anywhere);
  std::mt19937 random(13);
  for (int round = 0; round < 3000; ++round) {
    Pages pages;
    Buffer buffer;
    // Runs and gaps of all lengths: some rounds have short ones only, others lines and pages full.
    const unsigned longest_run = 1U << random() % 11;
    const unsigned longest_gap = 1U << random() % 11;
    for (std::size_t word = random() % longest_gap; word < words_per_page; word += 1 + random() % longest_gap) {
      for (unsigned left = 1 + static_cast<unsigned>(random()) % longest_run; left > 0 && word < words_per_page;
           --left) {
        set_word(pages.page, word++, static_cast<std::uint32_t>(random()) | 1);
      }
    }
    const std::vector<std::uint32_t> expected = diff_by_words(pages.page, pages.twin);
    const EncodedDiff diff = encoder(7, pages.page.data(), pages.twin.data(), buffer.data());
    if (expected.empty()) {
      REQUIRE(diff.bytes == 0);
      continue;
    }
    REQUIRE(diff.bytes == 8 + 4 * expected.size());
    REQUIRE(diff.bytes == diff_bytes(diff.change).count);
    REQUIRE(std::memcmp(buffer.data() + 8, expected.data(), 4 * expected.size()) == 0);
    REQUIRE(pages.twin == pages.page);
  }
}

TEST_CASE("two processes may change different bytes of one word") {
  Pages first;
  Pages second;
  Buffer first_diff;
  Buffer second_diff;
  first.page[100] = std::byte{1};
  first.page[103] = std::byte{2};
  second.page[101] = std::byte{3};
  const EncodedDiff one = encode(first, first_diff);
  const EncodedDiff two = encode(second, second_diff);
  Page home{};
  REQUIRE(apply_diff(first_diff.data(), one.bytes, home.data()));
  REQUIRE(apply_diff(second_diff.data(), two.bytes, home.data()));
  CHECK(home[100] == std::byte{1});
  CHECK(home[101] == std::byte{3});
  CHECK(home[102] == std::byte{0});
  CHECK(home[103] == std::byte{2});
}

TEST_CASE("damaged diffs are told from sound ones, and never write outside of the page") {
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    Pages pages;
    Buffer buffer;
    for (int i = 0; i < 20; ++i) pages.page[random() % 4096] = static_cast<std::byte>(1 + random() % 255);
    EncodedDiff diff = encode(pages, buffer);
    for (unsigned i = 0; i <= random() % 3; ++i)
      buffer[8 + random() % (diff.bytes - 8)] = static_cast<std::byte>(random());
    if (random() % 4 == 0) diff.bytes -= static_cast<std::uint32_t>(1 + random() % (diff.bytes - 8));
    struct Guarded {
      std::array<std::byte, 64> before{};
      alignas(64) Page page{};
      std::array<std::byte, 64> after{};
    } guarded;
    if (!apply_diff(buffer.data(), diff.bytes, guarded.page.data())) ++refused;
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    REQUIRE(std::all_of(guarded.before.begin(), guarded.before.end(), is_zero));
    REQUIRE(std::all_of(guarded.after.begin(), guarded.after.end(), is_zero));
  }
  CHECK(refused > 1000);
}
