#include "sim/noise.hpp"

#include <algorithm>
#include <boost/random/exponential_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "sim/clock.hpp"

namespace sdsm::sim {
namespace {

/// Work that lasts for more paces takes its average time: its deviation would be less than a twentieth of a pace's.
constexpr std::int64_t most_paces = 1000;

Time scaled(Time time, double factor) {
  return from_picoseconds(static_cast<double>(time.count()) * factor);
}

}  // namespace

Noise::Noise(double deviation, Time lasts, std::uint64_t seed, std::uint32_t processes)
    // See Cluster::jittered().
    : variance_(std::log1p(deviation * deviation)), lasts_(lasts) {
  if (deviation <= 0) return;
  for (std::uint32_t process = 0; process < processes; ++process) {
    std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), process};
    paces_.push_back({Time{}, 1, std::mt19937_64(mixed)});
  }
}

void Noise::change(Pace& pace, Time at) const {
  boost::random::normal_distribution<double> normal(variance_ / 2, std::sqrt(variance_));
  boost::random::exponential_distribution<double> exponential(1);
  pace.slowness = std::exp(normal(pace.random));
  // At least a picosecond, so that time advances.
  pace.until = at + std::max(scaled(lasts_, exponential(pace.random)), Time{1});
}

Time Noise::stretch(Pace& pace, Time since, Time work) const {
  if (work <= Time{} || work / most_paces >= lasts_) return work;
  Time at = since;
  for (Time left = work;;) {
    // Longer than any run; the exact time does not matter.
    if (at > last_date) return at - since;
    // Paces are memoryless: an expired one is drawn anew, however long ago it ended.
    if (pace.until <= at) change(pace, at);
    const Time rest = pace.until - at;
    if (static_cast<double>(left.count()) * pace.slowness <= static_cast<double>(rest.count()))
      return at + scaled(left, pace.slowness) - since;
    left -= std::min(left, scaled(rest, 1 / pace.slowness));
    at = pace.until;
  }
}

}  // namespace sdsm::sim
