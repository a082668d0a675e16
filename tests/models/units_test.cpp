#include "models/units.hpp"

#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "tests/campaign.hpp"
#include "tests/catch.hpp"

using namespace sdsm;

namespace {

/// The text of the error that reading `text` gives.
template <typename Read>
std::string complaint(Read read, const std::string& text) {
  return error_text([&] { read(text); });
}

}  // namespace

TEST_CASE("times are read in every unit, to the picosecond") {
  CHECK(parse_time("8us") == Time{8'000'000});
  CHECK(parse_time("587 us") == Time{587'000'000});
  CHECK(parse_time("61.66us") == Time{61'660'000});
  CHECK(parse_time("18.95us") == Time{18'950'000});
  CHECK(parse_time("0.2ms") == Time{200'000'000});
  CHECK(parse_time("7.5s") == Time{7'500'000'000'000});
  CHECK(parse_time("140ns") == Time{140'000});
  CHECK(parse_time("5ps") == Time{5});
  CHECK(parse_time("2min") == Time{120'000'000'000'000});
  CHECK(parse_time("1h") == Time{3'600'000'000'000'000});
  CHECK(parse_time("0us") == Time{});
  CHECK(parse_time("1e-6s") == Time{1'000'000});
  CHECK(parse_time(".5us") == Time{500'000});
  CHECK(parse_time("0.4ps") == Time{});  // the nearest picosecond
}

TEST_CASE("a malformed time is refused with what is expected") {
  const auto text = GENERATE(as<std::string>{}, "", " ", "8", "us", "8xs", "8us ", " 8us", "+8us", "-8us", "-0.1ps",
                             "8,5us", "8us8us", "0x10us", "1e999us", "inf us", "nan us", "nanus", "8US", "8u",
                             "eight us", "8\tus", "1e300h", "2501h");
  const std::string error = complaint(parse_time, text);
  CAPTURE(text, error);
  REQUIRE(error != "no error");
  if (text == "1e300h" || text == "2501h") {
    CHECK(contains(error, "104 days"));  // 63 bits of picoseconds end there
  } else {
    CHECK(contains(error, "'" + text + "'"));
    CHECK(contains(error, "s, ms, us, ns, ps"));
  }
}

TEST_CASE("a number outside a double's range is refused") {
  CHECK(contains(complaint(parse_time, "1e400us"),
                 "'1e400us' is not a time: its number is too large or too near to zero"));
  CHECK(contains(complaint(parse_bytes, "1e-400B"), "too large or too near to zero"));
  CHECK(contains(complaint(parse_time, "us"), "does not begin with a number"));
}

TEST_CASE("a bandwidth has an upper bound") {
  CHECK(parse_bandwidth("1e9GBps").bytes_per_second == 1e18);
  for (const char* text : {"1e300Mbps", "1.1e9GBps", "1e308GBps"}) {
    CHECK(contains(complaint(parse_bandwidth, text), "at most 1e+18 bytes per second"));
  }
}

TEST_CASE("a count may be bounded, and the error tells the bounds") {
  const auto read = [](const std::string& text) { return parse_whole_number(text, 1, 4096); };
  CHECK(read("1") == 1);
  CHECK(read("4096") == 4096);
  for (const char* text : {"0", "4097", "4294967297", "18446744073709551616", "x"}) {
    CHECK(contains(complaint(read, text),
                   std::string("'").append(text).append("' is not a whole number from 1 to 4096")));
  }
}

TEST_CASE("a number without a unit is never taken for seconds") {
  CHECK(contains(complaint(parse_time, "8"), "no unit"));
  CHECK(contains(complaint(parse_bytes, "8"), "no unit"));
  CHECK(contains(complaint(parse_bandwidth, "8"), "no unit"));
  CHECK(contains(complaint(parse_time_per_byte, "8"), "no unit"));
}

TEST_CASE("sizes are whole numbers of bytes, decimal or binary") {
  CHECK(parse_bytes("64B") == Bytes{64});
  CHECK(parse_bytes("0B") == Bytes{0});
  CHECK(parse_bytes("4KiB") == Bytes{4096});
  CHECK(parse_bytes("1kB") == Bytes{1000});
  CHECK(parse_bytes("1.5kB") == Bytes{1500});
  CHECK(parse_bytes("2MiB") == Bytes{2 * 1024 * 1024});
  CHECK(parse_bytes("3GB") == Bytes{3'000'000'000});
  const auto bad = GENERATE(as<std::string>{}, "", "64", "0.5B", "1.0001kB", "-1B", "9.1e15B", "1e300GiB", "64b",
                            "64 bytes", "1KB", "nanB", "infB");
  CAPTURE(bad);
  CHECK_THROWS_AS(parse_bytes(bad), std::invalid_argument);
}

TEST_CASE("bandwidths are bits or bytes a second, as SimGrid writes them") {
  CHECK(parse_bandwidth("100Mbps").bytes_per_second == 12.5e6);
  CHECK(parse_bandwidth("1Gbps").bytes_per_second == 125e6);
  CHECK(parse_bandwidth("12.5MBps").bytes_per_second == 12.5e6);
  CHECK(parse_bandwidth("8bps").bytes_per_second == 1);
  CHECK(parse_bandwidth("1kBps").bytes_per_second == 1000);
  const auto bad =
      GENERATE(as<std::string>{}, "", "100", "0Mbps", "-1Mbps", "100Mb/s", "100mbps", "infMbps", "100 Mbit/s");
  CAPTURE(bad);
  CHECK_THROWS_AS(parse_bandwidth(bad), std::invalid_argument);
}

TEST_CASE("a time per byte is read to the picosecond") {
  CHECK(parse_time_per_byte("0.181919us/B") == Time{181'919});
  CHECK(parse_time_per_byte("181.919 ns/B") == Time{181'919});
  CHECK(parse_time_per_byte("0us/B") == Time{});
  const auto bad = GENERATE(as<std::string>{}, "", "0.18us", "0.18", "0.18us/b", "-1us/B", "1s/B");
  CAPTURE(bad);
  CHECK_THROWS_AS(parse_time_per_byte(bad), std::invalid_argument);
}

TEST_CASE("arbitrary text is read or refused, nothing else") {
  std::mt19937 random(1);
  const std::string letters = "0123456789.eE+-x usnmpBKMGib/h\0\xff";
  int read = 0;
  for (std::uint64_t i = test::rounds(20'000); i > 0; --i) {
    std::string text(random() % 8, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    for (const auto& reader : {+[](const std::string& t) { return parse_time(t).count(); },
                               +[](const std::string& t) { return parse_bytes(t).count; },
                               +[](const std::string& t) { return parse_time_per_byte(t).count(); }}) {
      try {
        const std::int64_t value = reader(text);
        ++read;
        if (value < 0) FAIL("'" << text << "' was read as " << value);
      } catch (const std::invalid_argument&) {
      }
    }
  }
  CHECK(read > 20);  // the letters are such that some texts are quantities
}

TEST_CASE("4096 bytes take 327.68 us at 100 Mbit/s") {
  CHECK(parse_bandwidth("100Mbps").time_of({4096}) == Time{327'680'000});
  CHECK(parse_bandwidth("1Gbps").time_of({4096}) == Time{32'768'000});
  CHECK(parse_bandwidth("100Mbps").time_of({0}) == Time{});
}

TEST_CASE("seconds become picoseconds and back, within 63 bits") {
  CHECK(from_seconds(1e-12) == Time{1});
  CHECK(from_seconds(-1e-12) == Time{-1});
  CHECK(to_seconds(Time{1'500'000'000'000}) == 1.5);
  CHECK(from_seconds(9.0e6) == Time{9'000'000'000'000'000'000});
  const auto beyond =
      GENERATE(9.1e6, -9.1e6, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS_AS(from_seconds(beyond), std::invalid_argument);
}

TEST_CASE("picoseconds round to nearest, halves away from zero") {
  // Doubles next to halves are where adding 0.5 and cutting off goes wrong.
  for (const double half : {0.5, 1.5, 2.5, 1234567.5, 4503599627370495.5}) {
    for (const double sign : {1., -1.}) {
      for (const double near : {half, std::nextafter(half, 0), std::nextafter(half, 1e300)}) {
        const double seconds = sign * near / 1e12;
        CAPTURE(seconds);
        CHECK(from_seconds(seconds) == Time{std::llround(seconds * 1e12)});
      }
    }
  }
  std::minstd_rand random(1);
  for (int i = 0; i < 10000; ++i) {
    const double seconds =
        std::uniform_real_distribution<>(-1, 1)(random) * std::pow(10, static_cast<int>(random() % 20) - 13);
    CAPTURE(seconds);
    CHECK(from_seconds(seconds) == Time{std::llround(seconds * 1e12)});
  }
}

TEST_CASE("times are printed with one to three digits before the point") {
  CHECK(format_time(Time{587'000'000}) == "587.000 us");
  CHECK(format_time(Time{4'190'000'000'000}) == "4.190 s");
  CHECK(format_time(Time{7'305'000'000}) == "7.305 ms");
  CHECK(format_time(Time{140'000}) == "140.000 ns");
  CHECK(format_time(Time{}) == "0.000 s");
  CHECK(format_time(Time{-8'000'000}) == "-8.000 us");
}

TEST_CASE("a whole number is plain digits and nothing else") {
  CHECK(parse_whole_number("0") == 0);
  CHECK(parse_whole_number("20") == 20);
  CHECK(parse_whole_number("18446744073709551615") == 18446744073709551615U);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "010", "00", "0x2", "2.0", "1e3", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_whole_number(text), std::invalid_argument);
  }
}
