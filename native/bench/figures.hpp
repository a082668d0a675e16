/// Prints what the benchmark programs measured: figures of several rounds, and their bounds, which scripts/bench reads.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace sdsm::bench {

/// Median and range of a figure over the rounds.
struct Range {
  double median = 0, least = 0, most = 0;
};

inline Range range(std::vector<double> values) {
  if (values.empty()) throw std::runtime_error("a measurement is missing");
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

/// A figure of each round, made of what the round measured.
template <typename Round, typename Figure>
Range over(const std::vector<Round>& rounds, Figure figure) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(figure(round));
  return range(std::move(values));
}

inline void print_figure(const std::string& name, const Range& range) {
  fmt::print("{:<42} {:>10.3f} {:>20}\n", name, range.median, fmt::format("{:.3f} .. {:.3f}", range.least, range.most));
}

inline void print_ratio(const std::string& name, const Range& range, const std::string& bound = "") {
  fmt::print("{:<42} {:>8.2f}  ({:.2f} .. {:.2f}{}{})\n", name, range.median, range.least, range.most,
             bound.empty() ? "" : "; ", bound);
}

}  // namespace sdsm::bench
