#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "models/ids.hpp"
#include "models/units.hpp"

namespace sdsm::sim {

/// System noise: each process's processor keeps a pace for a while, then takes another one, whatever the others do.
/// Neighbours on the same core, other guests of a machine and its clock rates are the causes. Threads that meet at
/// barriers wait for the one that was slower this time.
///
/// How many times as long as on average work takes is lognormal *(assumed)*, and a pace lasts for an exponentially
/// distributed time *(assumed)*. Long work takes as long as without noise, as costs were measured with it; short work
/// with long pauses between takes 1 + deviation^2 of that on average, as slow whiles last longer for the work in them.
/// A process's draws depend on the seed, and on when its processor works.
class Noise {
 public:
  /// `deviation`: coefficient of variation of what work takes; 0 for a machine without noise. `lasts`: mean time of a
  /// pace. Precondition: `lasts` is above zero where `deviation` is.
  Noise(double deviation, Time lasts, std::uint64_t seed, std::uint32_t processes);

  /// How long `work` of the process's processor takes that begins at `since`. What begins before its latest pace, as
  /// work that was drawn earlier reaches further, has that pace.
  Time stretched(ProcessId process, Time since, Time work) {
    return paces_.empty() ? work : stretch(paces_[index_of(process)], since, work);
  }

 private:
  struct Pace {
    Time until{};
    double slowness = 1;
    std::mt19937_64 random;
  };
  void change(Pace& pace, Time at) const;
  Time stretch(Pace& pace, Time since, Time work) const;

  double variance_;  ///< of the logarithm
  Time lasts_;
  std::vector<Pace> paces_;  ///< by process; none without noise
};

}  // namespace sdsm::sim
