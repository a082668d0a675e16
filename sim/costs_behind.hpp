/// On which of a platform's costs a simulated time rests.
#pragma once

#include <string>
#include <vector>

#include "sim/simulation.hpp"

namespace sdsm::sim {

/// Returns the properties in the platform file from which the simulator has a term's time. A barrier or lock of a
/// layout that nobody measured has its cost from those of all others.
std::vector<std::string> costs_behind(Spent term, const Platform& platform, ProtocolKind protocol, Layout layout);

/// The same of atomic operations, which are part of the term of locks.
std::vector<std::string> costs_behind_atomics(const Platform& platform, ProtocolKind protocol);

/// The share of all threads' time that is spent on a term, 0 to 1.
double share_of(Spent term, const Result& result);

/// Costs that nobody measured, and the share of all threads' time that rests on them, 0 to 1.
struct Assumed {
  std::vector<std::string> costs;
  double share;
};
/// Returns those behind a hundredth of the time or more, the largest first; none if all together have less than a
/// tenth. Of barriers only the shortest of the threads' times counts, as the others wait for threads that compute.
std::vector<Assumed> assumed_costs(const Platform& platform, ProtocolKind protocol, Layout layout,
                                   const Result& result);

}  // namespace sdsm::sim
