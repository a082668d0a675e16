/// Diffs as they travel between processes: sizes as the model says, every byte kept, nothing else touched.
#include "native/dsm/wire/diff.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

namespace {

using namespace sdsm;
using namespace sdsm::dsm;

using Page = std::array<std::byte, 4096>;

/// Aligned as pages are.
struct Pages {
  alignas(64) Page page{};
  alignas(64) Page twin{};
  alignas(64) Page home{};
};

void set_word(Page& page, std::size_t word, std::uint32_t value) {
  std::memcpy(page.data() + 4 * word, &value, sizeof value);
}

EncodedDiff encode(Pages& pages, DiffBuffer& buffer, std::uint64_t address = 0x200000001000) {
  return encode_diff(address, pages.page.data(), pages.twin.data(), buffer);
}

bool apply(const DiffBuffer& buffer, const EncodedDiff& diff, Page& home, std::optional<std::size_t>* torn = nullptr) {
  return apply_diff(buffer.diff, diff.bytes, buffer.twin_words, diff.twin_bytes(), home.data(), torn);
}

/// As the format is defined, word by word.
struct DiffByWords {
  std::vector<std::uint32_t> diff, twin_words;
};
DiffByWords diff_by_words(const Page& page, const Page& twin) {
  DiffByWords made;
  std::vector<std::uint32_t>& diff = made.diff;
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
    diff.push_back(now);
    made.twin_words.push_back(before);
  }
  return made;
}

}  // namespace

TEST_CASE("a page that did not change has no diff") {
  Pages pages;
  DiffBuffer buffer;
  const EncodedDiff diff = encode(pages, buffer);
  CHECK(diff.bytes == 0);
  CHECK(!diff.change);
}

TEST_CASE("a diff of three words in two runs has its size") {
  Pages pages;
  DiffBuffer buffer;
  set_word(pages.page, 0, 1);
  set_word(pages.page, 15, 2);
  set_word(pages.page, 16, 3);  // the run goes on over the border of what is compared at once
  const EncodedDiff diff = encode(pages, buffer);
  CHECK(diff.change == Change{3, 2});
  CHECK(diff.bytes == 8 + 2 * 4 + 3 * 4);
  CHECK(address_of_diff(buffer.diff) == 0x200000001000);
  REQUIRE(apply(buffer, diff, pages.home));
  CHECK(pages.home == pages.page);
}

TEST_CASE("random diffs update the home, renew twins and have model sizes") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Pages pages;
    DiffBuffer buffer;
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
    if (is_changed) REQUIRE(apply(buffer, diff, pages.home));
    REQUIRE(pages.home == pages.page);
  }
}

TEST_CASE("both encodings of a diff write the documented format") {
  const auto encoder = GENERATE(encode_diff, encode_diff_anywhere);
  std::mt19937 random(13);
  for (int round = 0; round < 3000; ++round) {
    Pages pages;
    DiffBuffer buffer;
    // Runs and gaps of all lengths: some rounds have short ones only, others lines and pages full.
    const unsigned longest_run = 1U << random() % 11;
    const unsigned longest_gap = 1U << random() % 11;
    for (std::size_t word = random() % longest_gap; word < words_per_page; word += 1 + random() % longest_gap) {
      for (unsigned left = 1 + static_cast<unsigned>(random()) % longest_run; left > 0 && word < words_per_page;
           --left) {
        set_word(pages.page, word++, static_cast<std::uint32_t>(random()) | 1);
      }
    }
    const DiffByWords expected = diff_by_words(pages.page, pages.twin);
    const EncodedDiff diff = encoder(7, pages.page.data(), pages.twin.data(), buffer, 1);
    if (expected.diff.empty()) {
      REQUIRE(diff.bytes == 0);
      continue;
    }
    REQUIRE(diff.bytes == 8 + 4 * expected.diff.size());
    REQUIRE(diff.bytes == diff_bytes(diff.change).count);
    REQUIRE(std::memcmp(buffer.diff + 8, expected.diff.data(), 4 * expected.diff.size()) == 0);
    REQUIRE(diff.twin_bytes() == 4 * expected.twin_words.size());
    REQUIRE(std::memcmp(buffer.twin_words, expected.twin_words.data(), diff.twin_bytes()) == 0);
    REQUIRE(pages.twin == pages.page);
  }
}

TEST_CASE("runs that meet between parts of a larger page are one") {
  const auto encoder = GENERATE(encode_diff, encode_diff_anywhere);
  struct alignas(64) Part : Page {};
  using Larger = std::array<Part, 4>;
  Larger page{}, twin{}, home{};
  set_word(page[0], 1023, 1);
  set_word(page[1], 0, 2);
  set_word(page[1], 1023, 3);
  set_word(page[2], 0, 4);  // another page's
  set_word(page[3], 0, 5);
  DiffBuffer buffer;
  const EncodedDiff diff = encoder(0x200000010000, page[0].data(), twin[0].data(), buffer, 0b1011);
  CHECK(diff.change == Change{4, 3});
  CHECK(diff.bytes == 8 + 3 * 4 + 4 * 4);
  const auto applied = [&](std::size_t words) {
    return apply_diff(buffer.diff, diff.bytes, buffer.twin_words, diff.twin_bytes(), home[0].data(), nullptr, words);
  };
  CHECK(!applied(3 * words_per_page));  // reaches beyond the home's memory
  home = {};
  REQUIRE(applied(4 * words_per_page));
  for (const std::size_t part : {0, 1, 3}) {
    CHECK(static_cast<Page&>(home[part]) == static_cast<Page&>(page[part]));
    CHECK(static_cast<Page&>(twin[part]) == static_cast<Page&>(page[part]));
  }
  CHECK(static_cast<Page&>(home[2]) == Page{});
  CHECK(static_cast<Page&>(twin[2]) == Page{});
}

TEST_CASE("a 64 KiB page has one run or the most possible") {
  const auto encoder = GENERATE(encode_diff, encode_diff_anywhere);
  struct alignas(64) Part : Page {};
  constexpr std::size_t parts = 16, words = parts * words_per_page;
  std::vector<Part> page(parts), twin(parts), home(parts);
  const std::size_t step = GENERATE(1U, 2U);
  for (std::size_t word = 0; word < words; word += step) set_word(page[word / 1024], word % 1024, 7);
  DiffBuffer buffer;
  const EncodedDiff diff = encoder(0, page[0].data(), twin[0].data(), buffer, 0xffff);
  CHECK(diff.bytes == (step == 1 ? 8U + 4 + 4 * 16384 : 8U + 8 * 8192));
  REQUIRE(apply_diff(buffer.diff, diff.bytes, buffer.twin_words, diff.twin_bytes(), home[0].data(), nullptr, words));
  for (std::size_t part = 0; part < parts; ++part) {
    REQUIRE(static_cast<Page&>(home[part]) == static_cast<Page&>(page[part]));
    REQUIRE(static_cast<Page&>(twin[part]) == static_cast<Page&>(page[part]));
  }
}

namespace {

/// One process's copy of the home's page, twinned, and its diff.
struct Writer {
  explicit Writer(const Page& home) { pages.page = pages.twin = home; }
  void send_to(Page& home) { torn_in(home); }
  /// Sends, and returns where a word was torn.
  std::optional<std::size_t> torn_in(Page& home) {
    DiffBuffer buffer;
    const EncodedDiff diff = encode(pages, buffer);
    std::optional<std::size_t> torn;
    if (diff.bytes > 0) REQUIRE(apply(buffer, diff, home, &torn));
    return torn;
  }
  Pages pages;
};

Page filled_with(unsigned byte) {
  Page page;
  page.fill(static_cast<std::byte>(byte));
  return page;
}

}  // namespace

TEST_CASE("two processes may change different bytes of one word") {
  const unsigned old = GENERATE(0x00U, 0xffU, 0x5aU);
  Page home = filled_with(old);
  Writer first(home), second(home);
  first.pages.page[100] = std::byte{1};
  first.pages.page[103] = std::byte{2};
  second.pages.page[101] = std::byte{3};
  home[102] = std::byte{4};  // the home's own thread
  first.send_to(home);
  second.send_to(home);
  CHECK(std::vector(home.begin() + 99, home.begin() + 105) == std::vector{static_cast<std::byte>(old), std::byte{1},
                                                                          std::byte{3}, std::byte{4}, std::byte{2},
                                                                          static_cast<std::byte>(old)});
}

TEST_CASE("processes that store the same value leave it") {
  const unsigned old = GENERATE(0x00U, 0xffU, 0x5aU);
  const std::size_t length = GENERATE(1U, 2U, 4U, 8U);
  const int writers = GENERATE(2, 3, 4);
  const std::array<std::byte, 8> value{std::byte{1}, std::byte{0}, std::byte{0xff}, std::byte{0x5a},
                                       std::byte{7}, std::byte{8}, std::byte{9},    std::byte{10}};
  Page home = filled_with(old);
  std::vector<Writer> all(static_cast<std::size_t>(writers), Writer(home));
  for (Writer& writer : all) std::memcpy(writer.pages.page.data() + 16, value.data(), length);
  if (writers == 3) std::memcpy(home.data() + 16, value.data(), length);  // the home's own thread, too
  for (Writer& writer : all) writer.send_to(home);
  Page expected = filled_with(old);
  std::memcpy(expected.data() + 16, value.data(), length);
  CHECK(home == expected);
}

TEST_CASE("concurrent stores of different words leave the last one whole") {
  std::mt19937 random(17);
  for (int round = 0; round < 5000; ++round) {
    const auto old = round % 3 == 0 ? 0U : round % 3 == 1 ? ~0U : static_cast<std::uint32_t>(random());
    // All of their bytes differ from the old word's: what differs in no common byte looks like chars.
    const auto another = [&] {
      std::uint32_t word = old;
      while (((word ^ old) & 0xff) == 0 || ((word ^ old) & 0xff00) == 0) word = static_cast<std::uint32_t>(random());
      return word;
    };
    Page home{};
    set_word(home, 5, old);
    Writer first(home), second(home);
    const std::uint32_t one = another(), other = another();
    set_word(first.pages.page, 5, one);
    set_word(second.pages.page, 5, other);
    if (round % 2 == 0) set_word(home, 5, another());  // the home's own thread
    first.send_to(home);
    std::uint32_t word;
    std::memcpy(&word, home.data() + 20, sizeof word);
    REQUIRE(word == one);
    second.send_to(home);
    std::memcpy(&word, home.data() + 20, sizeof word);
    REQUIRE(word == other);
  }
}

TEST_CASE("a diff by hand: 351 after 101 over -1 stays 351") {
  Page home = filled_with(0xff);
  Writer first(home), second(home);
  set_word(first.pages.page, 0, 351);   // 5f 01 00 00
  set_word(second.pages.page, 0, 101);  // 65 00 00 00
  second.send_to(home);
  first.send_to(home);
  CHECK(std::vector(home.begin(), home.begin() + 4) ==
        std::vector{std::byte{0x5f}, std::byte{0x01}, std::byte{0}, std::byte{0}});
}

TEST_CASE("a word stored over another change beside one's own is reported") {
  Page home = filled_with(0);
  Writer first(home), second(home), third(home);
  first.pages.page[100] = std::byte{1};
  first.pages.page[101] = std::byte{2};
  second.pages.page[100] = std::byte{3};
  third.pages.page[102] = std::byte{4};
  CHECK(!first.torn_in(home));
  CHECK(!third.torn_in(home));
  CHECK(second.torn_in(home) == 100);
  CHECK(std::vector(home.begin() + 100, home.begin() + 103) == std::vector{std::byte{3}, std::byte{0}, std::byte{0}});
}

TEST_CASE("changes that overlap fully or not at all report nothing") {
  Page home = filled_with(0);
  Writer first(home), same(home), other(home);
  for (Writer* writer : {&first, &same, &other}) writer->pages.page[100] = std::byte{1};
  other.pages.page[100] = std::byte{9};
  other.pages.page[104] = std::byte{9};
  CHECK(!first.torn_in(home));
  CHECK(!same.torn_in(home));
  CHECK(!other.torn_in(home));
}

TEST_CASE("an eight-byte variable at home shows whole changes only") {
  // An address takes the place of zeros, and the other way round: none of its bytes but three changes.
  constexpr std::uint64_t address = 0x30000101ea98;
  constexpr std::size_t word = 6;
  Pages set, cleared;
  std::memcpy(set.page.data() + 4 * word, &address, sizeof address);
  std::memcpy(cleared.twin.data() + 4 * word, &address, sizeof address);
  DiffBuffer sets, clears;
  const EncodedDiff set_diff = encode(set, sets), clear_diff = encode(cleared, clears);
  auto* const variable = reinterpret_cast<std::uint64_t*>(set.home.data() + 4 * word);
  std::atomic<bool> is_over = false, has_begun = false;
  std::uint64_t halves = 0;
  std::thread looks([&] {
    for (has_begun = true; !is_over;) {
      const std::uint64_t seen = __atomic_load_n(variable, __ATOMIC_RELAXED);
      halves += seen != 0 && seen != address;
    }
  });
  while (!has_begun) std::this_thread::yield();
  for (int i = 0; i < 3'000'000; ++i) {
    apply(sets, set_diff, set.home);
    apply(clears, clear_diff, set.home);
  }
  is_over = true;
  looks.join();
  CHECK(halves == 0);
  CHECK(*variable == 0);
}

TEST_CASE("damaged diffs are detected and never write outside the page") {
  std::mt19937 random(11);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    Pages pages;
    DiffBuffer buffer;
    for (int i = 0; i < 20; ++i) pages.page[random() % 4096] = static_cast<std::byte>(1 + random() % 255);
    EncodedDiff diff = encode(pages, buffer);
    for (unsigned i = 0; i <= random() % 3; ++i)
      buffer.diff[8 + random() % (diff.bytes - 8)] = static_cast<std::byte>(random());
    if (random() % 4 == 0) diff.bytes -= static_cast<std::uint32_t>(1 + random() % (diff.bytes - 8));
    struct Guarded {
      std::array<std::byte, 64> before{};
      alignas(64) Page page{};
      std::array<std::byte, 64> after{};
    } guarded;
    if (!apply(buffer, diff, guarded.page)) ++refused;
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    REQUIRE(std::all_of(guarded.before.begin(), guarded.before.end(), is_zero));
    REQUIRE(std::all_of(guarded.after.begin(), guarded.after.end(), is_zero));
  }
  CHECK(refused > 1000);
}
