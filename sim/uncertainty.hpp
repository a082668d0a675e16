/// How far a prediction moves with what is not known exactly about the platform: the run is simulated on many sets of
/// costs, drawn from the standard errors that the platform file gives.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "sim/simulation.hpp"

namespace sdsm::sim {

inline constexpr std::uint64_t least_draws = 10;
inline constexpr std::uint64_t most_draws = 10'000;

/// Draws sets of costs: each cost normal about its value with its standard error, message.fixed and per-byte with the
/// correlation of their errors; what cannot be becomes the nearest that can (a time below zero zero, a share above one
/// one). The same seed gives the same sets with every standard library.
class CostSampler {
 public:
  /// `platform` must live as long. Throws std::invalid_argument if it gives no standard error.
  CostSampler(const Platform& platform, std::uint64_t seed);

  /// The next set that can be: sets whose costs are less than their messages take, on either network model, are passed
  /// over. Throws std::invalid_argument if hardly any can be.
  Costs draw();
  std::uint64_t refused() const { return refused_; }

 private:
  Costs any();

  const Platform& platform_;
  std::mt19937_64 random_;
  std::uint64_t drawn_ = 0;
  std::uint64_t refused_ = 0;
};

struct Draw {
  std::vector<double> costs;  ///< of Platform::uncertain, in its order
  std::uint64_t seed = 0;     ///< of the jitter
  Time makespan{};
};

struct Uncertainty {
  std::vector<Draw> draws;
  std::uint64_t refused = 0;
};

/// Of the draws' makespans: linear between the two nearest in order. `part`: 0.05 for the time that a twentieth lies
/// below. Precondition: there are draws.
Time quantile(const Uncertainty& uncertainty, double part);

/// Simulates `count` draws, each in a child process, as many at once as there are processors. Draw i (from 1) has the
/// jitter's seed options.seed + i. Must be called before this process has an engine. `program` makes the same program
/// each time. Throws as CostSampler and simulate() do.
Uncertainty simulate_draws(const Platform& platform, Layout layout, NetworkKind network,
                           const std::function<Program()>& program, const RunOptions& options, std::uint64_t count,
                           const Progress& progress);

}  // namespace sdsm::sim
