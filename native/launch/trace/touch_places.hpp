/// Finds where touches lie in their interval.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sdsm::trace_command {

/// An interval, as its stopwatch showed it in the tracked pass.
struct TrackedInterval {
  std::uint64_t elapsed_ns = 0;             ///< at its end
  std::uint64_t compute_ns = 0;             ///< its compute time, from the untracked passes
  std::span<const std::uint64_t> touch_ns;  ///< the stopwatch's reading at each touch, ascending
};

/// For each touch the part of the interval's compute time that lies before it, in 1/256.
/// The stopwatch includes the kernel's time to deliver a fault: some microseconds, never twice the same, and often more
/// than the program computes between two touches. So each interval calibrates itself. A fault takes the lower quartile
/// of the gaps between touches, or (elapsed - compute) per touch if that is less; the rest of a gap is the program's.
/// If faults take more than computing, the rest is mostly noise with interrupts in it: with 64 touches or more no gap
/// then counts for more than a sixteenth of the whole. Touches in quick succession thus come out evenly spaced, and a
/// long computation between touches stays visible.
std::vector<std::uint8_t> places_of(const TrackedInterval& interval);

}  // namespace sdsm::trace_command
