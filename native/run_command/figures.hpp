/// What one process did with its time, for reports and result documents.
#pragma once

#include <cstdint>
#include <vector>

#include "native/dsm/control.hpp"

namespace sdsm::run_command {

/// The part of `tally`'s duration that none of its other times claims, at least 0: clocks are read one after another,
/// so the others may exceed it.
constexpr std::uint64_t compute_ns(const dsm::Tally& tally) {
  std::uint64_t others = tally.diff_ns + tally.barrier_ns + tally.protect_ns + tally.lock_ns + tally.idle_ns;
  for (const std::uint64_t time : tally.fault_ns) others += time;
  return tally.now_ns > others ? tally.now_ns - others : 0;
}

constexpr double seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

/// The time of a run is its initial thread's, whose clock delimits the region.
inline double makespan_s(const std::vector<dsm::Result>& processes) {
  return seconds(processes.front().region.now_ns);
}
inline double whole_makespan_s(const std::vector<dsm::Result>& processes) {
  return seconds(processes.front().whole.now_ns);
}

}  // namespace sdsm::run_command
