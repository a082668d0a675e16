#include "workloads/trace/readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "commands/input.hpp"
#include "workloads/trace/limits.hpp"

namespace sdsm::trace {
namespace {

constexpr std::string_view title = "thread,reading,clock,time_s";
constexpr std::int64_t second = 1'000'000'000'000;  // in picoseconds

std::string line_of(std::size_t thread, std::size_t number, const Reading& reading) {
  const std::int64_t time = reading.time.count();
  return fmt::format("{},{},{},{}.{:012}\n", thread, number, name_of(reading.clock), time / second, time % second);
}

/// Returns the clock of that name. Throws std::invalid_argument if there is none.
ClockSource clock_named(std::string_view name) {
  for (std::uint8_t number = 0; name_of(static_cast<ClockSource>(number)) != "?"; ++number) {
    if (name_of(static_cast<ClockSource>(number)) == name) return static_cast<ClockSource>(number);
  }
  throw std::invalid_argument(fmt::format("'{}' is no clock", name));
}

Time time_of(std::string_view text) {
  const std::size_t point = text.find('.');
  constexpr std::size_t decimals = 12;
  if (point == std::string_view::npos || text.size() != point + 1 + decimals) {
    throw std::invalid_argument(fmt::format("'{}' is no time in seconds with twelve decimals", text));
  }
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / second - 1);
  std::string_view fraction = text.substr(point + 1);
  while (fraction.size() > 1 && fraction.front() == '0') fraction.remove_prefix(1);
  const std::uint64_t whole = parse_whole_number(text.substr(0, point), 0, most);
  return Time{static_cast<std::int64_t>(whole) * second +
              static_cast<std::int64_t>(parse_whole_number(fraction, 0, second - 1))};
}

/// Returns the next of the fields between commas.
std::string_view next_field(std::string_view& rest) {
  const std::size_t comma = std::min(rest.find(','), rest.size());
  const std::string_view field = rest.substr(0, comma);
  rest.remove_prefix(std::min(comma + 1, rest.size()));
  return field;
}

void add_line(Readings& readings, std::string_view line) {
  std::string_view rest = line;
  const std::uint64_t thread = parse_whole_number(next_field(rest), 0, max_threads - 1);
  if (thread + 1 < readings.size()) throw std::invalid_argument("the threads are not in order");
  readings.resize(thread + 1);
  std::vector<Reading>& own = readings[thread];
  if (parse_whole_number(next_field(rest)) != own.size()) {
    throw std::invalid_argument("the thread's readings are not in order");
  }
  const ClockSource clock = clock_named(next_field(rest));
  const Reading reading{clock, time_of(rest)};
  if (!own.empty() && reading.time < own.back().time) throw std::invalid_argument("the clock goes back");
  own.push_back(reading);
}

}  // namespace

std::string readings_text(const Readings& readings) {
  std::string text = fmt::format("{}\n", title);
  for (std::size_t thread = 0; thread < readings.size(); ++thread) {
    for (std::size_t i = 0; i < readings[thread].size(); ++i) text += line_of(thread, i, readings[thread][i]);
  }
  return text;
}

Readings read_readings(const std::filesystem::path& path) {
  const auto fail = [&](std::uint64_t line, const std::string& why) {
    throw std::invalid_argument(
        fmt::format("{}:{}: {}. Give what `sdsm simulate --readings` wrote", path.string(), line, why));
  };
  if (const std::string problem = commands::input_problem(path); !problem.empty()) fail(1, problem);
  std::ifstream stream(path);
  Readings readings;
  std::uint64_t number = 1;
  std::string line;
  if (!std::getline(stream, line) || line != title) fail(number, fmt::format("the title line is not '{}'", title));
  while (std::getline(stream, line)) {
    ++number;
    try {
      add_line(readings, line);
    } catch (const std::invalid_argument& error) {
      fail(number, error.what());
    }
  }
  return readings;
}

}  // namespace sdsm::trace
