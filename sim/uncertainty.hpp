/// How predictions differ: a run simulated with many sets of costs, drawn from standard errors and runs, or as often
/// with the machine's noise and jitter alone.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "sim/simulation.hpp"

namespace sdsm::sim {

inline constexpr std::uint64_t least_draws = 10;
inline constexpr std::uint64_t most_draws = 10'000;

/// Draws sets of costs. Costs with R runs are drawn as one further run: jointly normal about their values, with the
/// runs' sample covariance times 1 + 1/R (each value is the mean of R runs). Each other cost is normal about its value
/// with its standard error; message.fixed and message.per-byte are correlated. An impossible value becomes the nearest
/// possible one: zero for a time below zero, one for a share above one. A seed gives the same sets with every standard
/// library.
class CostSampler {
 public:
  /// `platform` must outlive the sampler, with possible costs. Throws std::invalid_argument without standard errors.
  CostSampler(const Platform& platform, std::uint64_t seed, ProtocolKind protocol = default_protocol);

  /// Returns the next possible set: skips sets in which a cost is less than its messages take, on either network model.
  /// Throws std::invalid_argument if hardly any set is possible.
  Costs draw();
  std::uint64_t refused() const { return refused_; }

 private:
  Costs any();
  double normal();

  const Platform& platform_;
  ProtocolKind protocol_;
  std::size_t runs_ = 0;  ///< runs of each cost that has any
  std::mt19937_64 random_;
  std::uint64_t drawn_ = 0;
  std::uint64_t refused_ = 0;
};

struct Draw {
  std::vector<double> costs;  ///< of Platform::uncertain, in its order
  std::uint64_t seed = 0;     ///< of jitter and noise
  std::uint32_t number = 0;   ///< among those of the machine's noise, from 0
  Time makespan{};
};

struct Uncertainty {
  std::vector<Draw> draws;
  std::uint64_t refused = 0;
};

/// Quantile of the draws' makespans, linear between neighbours: 5 % of them lie below the one of `part` 0.05.
/// Precondition: there are draws.
Time quantile(const Uncertainty& uncertainty, double part);

/// Number of draws of noise and jitter that take about 2 s of a processor, 21 to 401, and odd. It depends on the trace
/// alone, its threads' intervals and page touches, so that the result does.
std::uint64_t usual_draws(std::uint64_t intervals, std::uint64_t touches);

/// The draw of median makespan. Precondition: their number is odd.
const Draw& median_draw(const Uncertainty& uncertainty);

enum class Varied : std::uint8_t { costs, noise, computing };

/// Simulates `count` draws, each in a child process, as many at once as there are processors. Draw i (from 1) uses
/// options.seed + i for jitter; of `noise`, draw i (from 0) has the platform's costs and RunOptions::draw; of
/// `computing`, draw i (from 0) differs by factors[i] as its compute factor alone. Must be called before this process
/// has an engine. `program` makes the same program each time. Throws as CostSampler and simulate() do.
Uncertainty simulate_draws(const Platform& platform, Layout layout, NetworkKind network,
                           const std::function<Program()>& program, const RunOptions& options, Varied varied,
                           std::uint64_t count, const Progress& progress, std::span<const double> factors = {});

}  // namespace sdsm::sim
