#include "models/units.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <initializer_list>
#include <stdexcept>

namespace sdsm {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

/// Splits "61.66us" into 61.66 and the factor of "us". Throws with the list of units if the text is not a quantity.
double parse_quantity(std::string_view text, std::string_view what, std::initializer_list<Unit> units) {
  const auto error = [&](const std::string& why) {
    std::string names;
    for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
    return std::invalid_argument(
        fmt::format("'{}' is not a {}: {}. Write a number and one of the units {}", text, what, why, names));
  };
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status == std::errc::result_out_of_range) throw error("its number is too large or too near to zero");
  if (status != std::errc()) throw error("it does not begin with a number");
  if (!std::isfinite(value)) throw error("it is not finite");
  if (value < 0) throw error("it is negative");
  std::string_view unit_text(rest, static_cast<std::size_t>(end - rest));
  while (!unit_text.empty() && unit_text.front() == ' ') unit_text.remove_prefix(1);
  if (unit_text.empty()) throw error("it has no unit");
  for (const Unit& unit : units) {
    if (unit.name == unit_text) return value * unit.factor;
  }
  throw error(fmt::format("'{}' is not a unit of it", unit_text));
}

constexpr double max_seconds = 9.0e6;  // what 63 bits of picoseconds hold, rounded down

}  // namespace

Time from_seconds(double seconds) {
  if (!(std::abs(seconds) <= max_seconds)) {
    throw std::invalid_argument(fmt::format("a time of {} s is outside what is simulated (up to 104 days)", seconds));
  }
  // As std::llround, which costs a call for each message: whole picoseconds and what is left of one are exact.
  const double picoseconds = seconds * 1e12;
  const auto whole = static_cast<std::int64_t>(picoseconds);
  const double rest = picoseconds - static_cast<double>(whole);
  return Time{whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0)};
}

Time Bandwidth::time_of(Bytes bytes) const {
  return from_seconds(static_cast<double>(bytes.count) / bytes_per_second);
}

double parse_seconds(std::string_view text) {
  return parse_quantity(text, "time",
                        {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"min", 60}, {"h", 3600}});
}

Time parse_time(std::string_view text) {
  return from_seconds(parse_seconds(text));
}

Bytes parse_bytes(std::string_view text) {
  const double bytes = parse_quantity(
      text, "size",
      {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}});
  if (bytes > 9e15 || bytes != std::floor(bytes)) {
    throw std::invalid_argument(fmt::format("'{}' is not a whole number of bytes below 9 PB", text));
  }
  return {std::llround(bytes)};
}

double parse_bytes_per_second(std::string_view text) {
  return parse_quantity(text, "bandwidth",
                        {{"bps", 1. / 8},
                         {"kbps", 1e3 / 8},
                         {"Mbps", 1e6 / 8},
                         {"Gbps", 1e9 / 8},
                         {"Bps", 1},
                         {"kBps", 1e3},
                         {"MBps", 1e6},
                         {"GBps", 1e9}});
}

Bandwidth parse_bandwidth(std::string_view text) {
  const double rate = parse_bytes_per_second(text);
  if (rate <= 0) throw std::invalid_argument(fmt::format("'{}' is not a bandwidth: it must be above zero", text));
  if (rate > most_bytes_per_second) {
    throw std::invalid_argument(
        fmt::format("'{}' is not a bandwidth: it must be at most {} bytes per second, as beyond that a megabyte takes "
                    "less than the picosecond that is counted in",
                    text, most_bytes_per_second));
  }
  return {rate};
}

double parse_seconds_per_byte(std::string_view text) {
  return parse_quantity(text, "time per byte", {{"us/B", 1e-6}, {"ns/B", 1e-9}, {"ps/B", 1e-12}});
}

Time parse_time_per_byte(std::string_view text) {
  return from_seconds(parse_seconds_per_byte(text));
}

std::uint64_t parse_whole_number(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || rest != end || (text.size() > 1 && text.front() == '0') || value < least ||
      value > most) {
    throw std::invalid_argument(
        fmt::format("'{}' is not a whole number from {} to {}. Write it in plain digits", text, least, most));
  }
  return value;
}

std::string format_time(Time time) {
  const double seconds = to_seconds(time);
  const double size = std::abs(seconds);
  if (size >= 1 || size == 0) return fmt::format("{:.3f} s", seconds);
  if (size >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  if (size >= 1e-6) return fmt::format("{:.3f} us", seconds * 1e6);
  return fmt::format("{:.3f} ns", seconds * 1e9);
}

}  // namespace sdsm
