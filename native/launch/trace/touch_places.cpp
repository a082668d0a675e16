#include "native/launch/trace/touch_places.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/trace/trace.hpp"

namespace sdsm::trace_command {
namespace {

/// From the start to the first touch, from touch to touch, and from the last to the end. Each touch's fault lies in the
/// gap before it, as the stopwatch is read in its handler.
std::vector<double> gaps_of(const TrackedInterval& interval) {
  std::vector<double> gaps;
  gaps.reserve(interval.touch_ns.size() + 1);
  std::uint64_t last = 0;
  for (const std::uint64_t at : interval.touch_ns) {
    gaps.push_back(at > last ? static_cast<double>(at - last) : 0);
    last = std::max(last, at);
  }
  gaps.push_back(interval.elapsed_ns > last ? static_cast<double>(interval.elapsed_ns - last) : 0);
  return gaps;
}

double lower_quartile(std::vector<double> values) {
  const auto quartile = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), quartile, values.end());
  return *quartile;
}

}  // namespace

std::vector<std::uint8_t> places_of(const TrackedInterval& interval) {
  const std::size_t touches = interval.touch_ns.size();
  std::vector<std::uint8_t> places(touches, 0);
  if (touches == 0 || interval.compute_ns == 0) return places;

  std::vector<double> gaps = gaps_of(interval);
  const auto compute = static_cast<double>(interval.compute_ns);
  const double added = std::max(0.0, static_cast<double>(interval.elapsed_ns) - compute) / static_cast<double>(touches);
  const double per_fault = std::min(lower_quartile(gaps), added);
  // No fault ends the last gap.
  for (std::size_t i = 0; i < touches; ++i) gaps[i] = std::max(0.0, gaps[i] - per_fault);
  constexpr std::size_t enough_to_compare = 64;
  if (touches >= enough_to_compare && added * static_cast<double>(touches) > compute) {
    constexpr double most_of_whole = 1.0 / 16;
    // The sum includes the outliers, so capping them takes several rounds.
    for (int round = 0; round < 4; ++round) {
      const double most = std::accumulate(gaps.begin(), gaps.end(), 0.0) * most_of_whole;
      for (double& gap : gaps) gap = std::min(gap, most);
    }
  }

  const double whole = std::accumulate(gaps.begin(), gaps.end(), 0.0);
  if (whole <= 0) return places;
  double before = 0;
  for (std::size_t i = 0; i < touches; ++i) {
    before += gaps[i];
    places[i] =
        static_cast<std::uint8_t>(std::min(before / whole * position_steps, static_cast<double>(position_steps - 1)));
  }
  return places;
}

}  // namespace sdsm::trace_command
