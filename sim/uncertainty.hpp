/// How uncertain a prediction is, given the platform's standard errors and measured runs: simulates the run on many
/// sets of costs drawn from them.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "sim/simulation.hpp"

namespace sdsm::sim {

inline constexpr std::uint64_t least_draws = 10;
inline constexpr std::uint64_t most_draws = 10'000;

/// Draws sets of costs. Costs with R runs are those of one further run: jointly normal about their values, with the
/// runs' sample covariance times 1 + 1/R (the values are means of as many). Each other cost is normal about its value
/// with its standard error; message.fixed and message.per-byte are correlated. An impossible value becomes the nearest
/// possible one: a time below zero becomes zero, a share above one becomes one. A seed gives the same sets with every
/// standard library.
class CostSampler {
 public:
  /// `platform` must outlive the sampler. `protocol`: whose costs must be possible. Throws std::invalid_argument if the
  /// platform gives no standard error.
  CostSampler(const Platform& platform, std::uint64_t seed, ProtocolKind protocol = ProtocolKind::scash);

  /// The next possible set: skips sets in which a cost is less than its messages take, on either network model. Throws
  /// std::invalid_argument if hardly any set is possible.
  Costs draw();
  std::uint64_t refused() const { return refused_; }

 private:
  Costs any();
  double normal();

  const Platform& platform_;
  ProtocolKind protocol_;
  std::size_t runs_ = 0;  ///< that costs with runs have, each as many
  std::mt19937_64 random_;
  std::uint64_t drawn_ = 0;
  std::uint64_t refused_ = 0;
};

struct Draw {
  std::vector<double> costs;  ///< of Platform::uncertain, in its order
  std::uint64_t seed = 0;     ///< of the jitter and the noise
  Time makespan{};
};

struct Uncertainty {
  std::vector<Draw> draws;
  std::uint64_t refused = 0;
};

/// Quantile of the draws' makespans, linear between neighbours: a twentieth of them lies below the one of `part` 0.05.
/// Precondition: there are draws.
Time quantile(const Uncertainty& uncertainty, double part);

/// Simulates `count` draws, each in a child process, as many at once as there are processors. Draw i (from 1) has the
/// jitter's seed options.seed + i. Must be called before this process has an engine. `program` makes the same program
/// each time. Throws as CostSampler and simulate() do.
Uncertainty simulate_draws(const Platform& platform, Layout layout, NetworkKind network,
                           const std::function<Program()>& program, const RunOptions& options, std::uint64_t count,
                           const Progress& progress);

}  // namespace sdsm::sim
