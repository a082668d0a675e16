/// The bytes that docs/trace-format.md promises, by hand.
#include <array>
#include <string_view>

#include "tests/catch.hpp"
#include "workloads/trace/file_layout.hpp"
#include "workloads/trace/page_codec.hpp"

using namespace sdsm;
using namespace sdsm::trace;
using Bytes8 = std::vector<std::uint8_t>;

namespace {

Bytes8 encoded(const std::vector<TouchRun>& runs) {
  RunEncoder encoder;
  Bytes8 out(runs.size() * max_run_bytes);
  std::uint8_t* end = out.data();
  std::uint8_t position = 0;
  for (const TouchRun& run : runs) {
    end = encoder.encode(run, encoder.stream_for(run), position, end);
    position = run.position;
  }
  out.resize(static_cast<std::size_t>(end - out.data()));
  return out;
}

std::vector<TouchRun> decoded(Bytes8 bytes, std::size_t runs) {
  static const std::vector<std::uint64_t> region_pages(300, 10'000);
  bytes.resize(bytes.size() + max_run_bytes);
  RunDecoder decoder(region_pages);
  const std::uint8_t* cursor = bytes.data();
  unsigned position = 0;
  std::vector<TouchRun> result(runs);
  for (TouchRun& run : result) decoder.decode(cursor, position, run);
  return result;
}

}  // namespace

TEST_CASE("numbers take seven bits a byte, the lowest first") {
  const auto bytes = [](std::uint64_t value) {
    Bytes8 out;
    write_varint(out, value);
    return out;
  };
  CHECK(bytes(0) == Bytes8{0});
  CHECK(bytes(127) == Bytes8{0x7f});
  CHECK(bytes(128) == Bytes8{0x80, 0x01});
  CHECK(bytes(300) == Bytes8{0xac, 0x02});
  CHECK(bytes(~std::uint64_t{0}).size() == max_varint_bytes);
}

TEST_CASE("a number of 64 bits is read, one of 65 refused") {
  const Bytes8 most = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  const std::uint8_t* cursor = most.data();
  CHECK(read_varint(cursor) == ~std::uint64_t{0});
  CHECK(cursor == most.data() + 10);
  Bytes8 over = most;
  over[9] = 0x02;
  cursor = over.data();
  CHECK_THROWS_AS(read_varint(cursor), ContentError);
  const Bytes8 endless(32, 0x80);
  cursor = endless.data();
  CHECK_THROWS_AS(read_varint(cursor), ContentError);
}

TEST_CASE("zigzag puts small negative numbers among the small ones") {
  CHECK(zigzag(0) == 0);
  CHECK(zigzag(-1) == 1);
  CHECK(zigzag(1) == 2);
  CHECK(zigzag(-2) == 3);
  const auto number = GENERATE(std::int64_t{0}, -1, 5, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::min());
  CHECK(unzigzag(zigzag(number)) == number);
}

TEST_CASE("CRC-32 of 123456789 is cbf43926, in one go and in two") {
  const std::string_view text = "123456789";
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  CHECK(crc32(bytes) == 0xcbf43926);
  CHECK(crc32(bytes.subspan(4), crc32(bytes.first(4))) == 0xcbf43926);
}

TEST_CASE("a sweep takes one byte per run") {
  // Reads of two pages each from page 0 of region 0 on, a position step apart.
  const std::vector<TouchRun> sweep = {{.pages = 2, .first = 0, .position = 0},
                                       {.pages = 2, .first = 2, .position = 1},
                                       {.pages = 2, .first = 4, .position = 3}};
  // Stream 0 of reads begins at page 0 with runs of one page: first only the length differs (bit 4).
  const Bytes8 bytes = {0x10, 2, 0x20, 0x40};
  CHECK(encoded(sweep) == bytes);
  CHECK(decoded(bytes, 3) == sweep);
}

TEST_CASE("a write says its access, place, region, position and change") {
  const std::vector<TouchRun> runs = {{.region = RegionId{300 - 1},
                                       .pages = 1,
                                       .first = 7,
                                       .access = Access::write,
                                       .position = 200,
                                       .change = {.words = 1024, .runs = 1}}};
  // write 1 + place 8 + position given 0x60 + change 0x80; distance 7, zigzag 14, doubled, plus 1 for the region;
  // region 299; position 200; words 1024; runs 1.
  const Bytes8 bytes = {0xe9, 29, 0xab, 0x02, 200, 0x80, 0x08, 1};
  CHECK(encoded(runs) == bytes);
  CHECK(decoded(bytes, 1) == runs);
}

TEST_CASE("two sweeps through one array keep a stream each") {
  std::vector<TouchRun> runs;
  for (std::uint64_t page = 0; page < 50; ++page) {
    runs.push_back({.first = page});
    runs.push_back({.first = 5000 + page});
  }
  // Only the second sweep's first run needs to say its place (two bytes: 5000 zigzagged and doubled is 20000).
  CHECK(encoded(runs).size() == 100 + 3);
  CHECK(decoded(encoded(runs), runs.size()) == runs);
}

TEST_CASE("a run outside its region or with an impossible change is refused") {
  const auto refused = [](const Bytes8& bytes) { CHECK_THROWS_AS(decoded(bytes, 1), ContentError); };
  refused({0x18, 0x80, 0x80, 0x80, 0x01, 1});     // page far past the region's 10000
  refused({0x10, 0x91, 0x4e});                    // 10001 pages from page 0
  refused({0x10, 0});                             // no pages
  refused({0x08, 1, 0xac, 0x02});                 // region 300 of 0..299
  refused({0x08, 2});                             // page -1
  refused({0x80, 1, 1});                          // a read that changes a word
  refused({0x81, 1, 2});                          // two runs of one word
  refused({0x81, 0x81, 0x08, 1});                 // 1025 words
  refused({0x81, 0x80, 0x80, 0x04, 1});           // 65536 words, 0 in 16 bits
  refused({0x81, 0x80, 0x80, 0x04, 0});           // 65536 words in no run
  refused({0x10, 0x80, 0x80, 0x80, 0x80, 0x10});  // 2^32 pages, 0 in 32 bits
  CHECK(decoded({0x10, 0x90, 0x4e}, 1).front().pages == 10'000);
}

TEST_CASE("a position past 255 is refused") {
  CHECK(decoded({0x60, 250, 0x60, 5}, 2).back().position == 255);
  CHECK_THROWS_AS(decoded({0x60, 250, 0x60, 6}, 2), ContentError);
}

TEST_CASE("lines take a head and what their form needs") {
  const auto check = [](const ChangedLines& changed, const Bytes8& expected) {
    Bytes8 bytes;
    write_value(bytes, changed);
    CHECK(bytes == expected);
    bytes.resize(bytes.size() + 16);
    const std::uint8_t* cursor = bytes.data();
    ChangedLines read;
    read_value(cursor, read);
    CHECK(read == changed);
    CHECK(cursor == bytes.data() + expected.size());
  };
  constexpr std::uint64_t all = ~std::uint64_t{0};
  // A group (form 3): first line and lines less one, in 12 bits from bit 4 of the head on. All: 0 and 63.
  check({all, true, false}, {0x07, 0xfc});
  // Lines 5 to 7: place 5 | 2 << 6 = 0x085.
  check({7 << 5, false, false}, {0x53, 0x08});
  check({std::uint64_t{1} << 63, false, true}, {0xfb, 0x03});
  // Every second line: one byte for all eight (form 2).
  check({0x5555'5555'5555'5555, true, false}, {0x06, 0x55});
  // Lines 0 and 63: bytes 0 and 7 are not zero (form 0).
  check({std::uint64_t{1} << 63 | 1, true, true}, {0x0c, 0x81, 0x01, 0x80});
  // All but line 9: byte 1 is not 0xff (form 1).
  check({all ^ 1 << 9, false, false}, {0x01, 0x02, 0xfd});
  check({}, {0x02, 0x00});
}

TEST_CASE("lines beyond the page or without a form are refused") {
  for (const Bytes8& bytes : {Bytes8{0xf3, 0x07}, Bytes8{0x10, 0x00}, Bytes8{0x12, 0x55}}) {
    Bytes8 padded = bytes;
    padded.resize(32);
    const std::uint8_t* cursor = padded.data();
    ChangedLines read;
    CHECK_THROWS_AS(read_value(cursor, read), ContentError);
  }
}

TEST_CASE("a section holds only what the stream's page before did not foretell") {
  // Rows of two pages: their lines alternate. What follows each is unknown once.
  const ChangedLines one{~std::uint64_t{0}, false, true};
  const ChangedLines two{~std::uint64_t{0}, true, false};
  PageEncoder<ChangedLines> encoder;
  for (int row = 0; row < 100; ++row) {
    encoder.add(1, one, 1);
    encoder.add(1, two, 1);
  }
  Bytes8 section;
  encoder.finish(section);
  // Nine bytes: three times none right and a group of all lines, for `one` at the begin, `two` after it, `one` after
  // it.
  CHECK(section == Bytes8{9, 0, 0x0b, 0xfc, 0, 0x07, 0xfc, 0, 0x0b, 0xfc});
  // As the next piece is foretold, it has no section.
  encoder.add(1, one, 1);
  Bytes8 next;
  encoder.finish(next);
  CHECK(next.empty());

  section.resize(section.size() + 32);
  PageDecoder<ChangedLines> decoder;
  decoder.begin(&section[1], &section[10]);
  for (int page = 0; page < 200; ++page) {
    ChangedLines read;
    CHECK(decoder.next(1, 1, read) == 1);
    CHECK(read == (page % 2 == 0 ? one : two));
  }
  decoder.finish();
}

TEST_CASE("pages that go on alike are passed in one step") {
  PageEncoder<std::uint32_t> encoder;
  encoder.add(0, 300, 1'000'000'000'000);
  Bytes8 section;
  encoder.finish(section);
  // Site 300 after what was before, and after itself.
  CHECK(section == Bytes8{6, 0, 0xac, 0x02, 0, 0xac, 0x02});
  section.resize(section.size() + 32);
  PageDecoder<std::uint32_t> decoder;
  decoder.begin(&section[1], &section[7]);
  std::uint64_t steps = 0;
  for (std::uint64_t left = 1'000'000'000'000; left > 0; ++steps) {
    std::uint32_t site = 0;
    left -= decoder.next(0, left, site);
    CHECK(site == 300);
  }
  CHECK(steps == 3);
}

TEST_CASE("the file's head and trailer are as documented") {
  CHECK(encode_head(2) == HeadBytes{0x89, 'S', 'D', 'S', 'M', '\r', '\n', 0x1a, 2, 0, 0, 0, 0, 0, 0, 0});
  const Bytes8 footer = {1, 2, 3};
  const TrailerBytes trailer =
      encode_trailer({.footer_offset = 0x0102, .footer_stored_bytes = 3, .footer_raw_bytes = 0x0a0b}, footer);
  const Bytes8 checked = {1, 2, 3, 2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0x0b, 0x0a, 0, 0};
  CHECK(std::equal(checked.begin() + 3, checked.end(), trailer.begin()));
  CHECK(load_little_endian<std::uint32_t>(&trailer[20]) == crc32(checked));
  CHECK(std::string(trailer.begin() + 24, trailer.end()) == "SDSMend\n");
}
