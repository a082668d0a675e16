#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

/// System noise: each processor changes its pace from time to time, independently of the others. Causes are other
/// processes on the same core, other guests of a machine, and its clock rates. Threads at a barrier wait for the
/// slowest.
///
/// A pace multiplies the duration of work by a lognormal factor *(assumed)*, and lasts for an exponentially distributed
/// time *(assumed)*. Long work takes as long as without noise on average, as costs were measured with noise. Short work
/// with long pauses takes 1 + deviation^2 times as long on average, because slow paces last longer in terms of work. A
/// process's draws depend on the seed and on when its processor works.
///
/// One of several draws of the same run begins with numbers that are spread evenly over all draws (a Sobol sequence,
/// shifted by the seed), so that few of them show how runs differ.
class Noise {
 public:
  /// Number of one of several draws, from 0.
  using Draw = std::optional<std::uint32_t>;
  /// A seed of the draw's own; `seed` itself if there is one only.
  static std::uint64_t seed_of(std::uint64_t seed, Draw draw);

  /// `deviation` is the coefficient of variation of a work's duration; 0 means no noise. `lasts` is the mean time of a
  /// pace. Precondition: `lasts` is above zero if `deviation` is.
  Noise(double deviation, Time lasts, std::uint64_t seed, std::uint32_t processes, Draw draw = {});

  /// Returns how long `work` takes that the process's processor begins at `since`. Work that begins before the latest
  /// pace, because earlier work was drawn further ahead, has that pace.
  Time stretched(ProcessId process, Time since, Time work) {
    return paces_.empty() ? work : stretch(paces_[index_of(process)], since, work);
  }

 private:
  struct Pace {
    Time until{};
    double slowness = 1;
    std::mt19937_64 random;
    std::vector<double> first;  ///< numbers between 0 and 1 that come before the random ones, the last one first
  };
  void spread(std::uint64_t seed, std::uint32_t draw);
  void change(Pace& pace, Time at) const;
  Time stretch(Pace& pace, Time since, Time work) const;

  double variance_;  ///< of the factor's logarithm
  Time lasts_;
  std::vector<Pace> paces_;  ///< by process; empty without noise
};

}  // namespace sdsm::sim
