#include "sim/noise.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <boost/random/exponential_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/sobol.hpp>
#include <cmath>
#include <numbers>

#include "sim/clock.hpp"

namespace sdsm::sim {
namespace {

/// So many paces of a process, and of so many processes, are spread evenly over draws.
constexpr std::size_t spread_paces = 3;
constexpr std::size_t spread_processes = 64;

/// Work that lasts for more paces takes its average time: its deviation would be less than a twentieth of a pace's.
constexpr std::int64_t most_paces = 1000;

Time scaled(Time time, double factor) {
  return from_picoseconds(static_cast<double>(time.count()) * factor);
}

}  // namespace

std::uint64_t Noise::seed_of(std::uint64_t seed, Draw draw) {
  if (!draw) return seed;
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), *draw, 0x64726177U};
  std::uint32_t words[2];
  mixed.generate(std::begin(words), std::end(words));
  return std::uint64_t{words[0]} << 32 | words[1];
}

Noise::Noise(double deviation, Time lasts, std::uint64_t seed, std::uint32_t processes, Draw draw)
    // See Cluster::jittered().
    : variance_(std::log1p(deviation * deviation)), lasts_(lasts) {
  if (deviation <= 0) return;
  for (std::uint32_t process = 0; process < processes; ++process) {
    const std::uint64_t own = seed_of(seed, draw);
    std::seed_seq mixed{static_cast<std::uint32_t>(own), static_cast<std::uint32_t>(own >> 32), process};
    paces_.push_back({Time{}, 1, std::mt19937_64(mixed), {}});
  }
  if (draw) spread(seed, *draw);
}

void Noise::spread(std::uint64_t seed, std::uint32_t draw) {
  const std::size_t processes = std::min(paces_.size(), spread_processes);
  const std::size_t each = 2 * spread_paces;
  boost::random::sobol numbers(processes * each);
  numbers.discard(std::uint64_t{draw} * processes * each);
  std::mt19937_64 shifts(seed);
  constexpr double scale = 0x1p-64;
  for (std::size_t process = 0; process < processes; ++process) {
    std::vector<double>& first = paces_[process].first;
    for (std::size_t i = 0; i < each; ++i) {
      // Modulo 2^64, and in the middle of its step: neither 0 nor 1.
      const std::uint64_t number = numbers() + shifts();
      first.push_back((static_cast<double>(number >> 11) + 0.5) * 2048 * scale);
    }
    std::reverse(first.begin(), first.end());
  }
}

void Noise::change(Pace& pace, Time at) const {
  boost::random::normal_distribution<double> normal;
  boost::random::exponential_distribution<double> exponential;
  double deviations = 0, length = 0;
  if (pace.first.size() >= 2) {
    // The distributions' quantiles.
    deviations = -std::numbers::sqrt2 * boost::math::erfc_inv(2 * pace.first.back());
    pace.first.pop_back();
    length = -std::log(pace.first.back());
    pace.first.pop_back();
  } else {
    deviations = normal(pace.random);
    length = exponential(pace.random);
  }
  pace.slowness = std::exp(variance_ / 2 + std::sqrt(variance_) * deviations);
  // At least a picosecond, so that time advances.
  pace.until = at + std::max(scaled(lasts_, length), Time{1});
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
