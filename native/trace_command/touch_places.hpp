/// Where in their interval touches lie.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sdsm::trace_command {

/// An interval as its stopwatch in the tracked pass shows it.
struct TrackedInterval {
  std::uint64_t elapsed_ns = 0;             ///< at its end
  std::uint64_t compute_ns = 0;             ///< its compute time, from the untracked passes
  std::span<const std::uint64_t> touch_ns;  ///< the stopwatch at each touch, ascending
};

/// For each touch the part of the interval's compute time that lies before it, in 1/256.
///
/// The stopwatch includes what the kernel takes to deliver a fault, some microseconds: often more than the program
/// computes between two touches, and never twice the same. So each interval calibrates itself. Of the time between two
/// touches, the interval's lower quartile of it is the fault's, or what the stopwatch shows beyond the compute time per
/// touch, if that is less; the rest is the program's. Where faults take more than computing does, what remains is
/// mostly noise, and interrupts stand out of it: there, with 64 touches or more, no gap counts for more than a
/// sixteenth of the whole. Touches in quick succession thus come out evenly spaced, and a long computation between
/// touches as what it is.
std::vector<std::uint8_t> places_of(const TrackedInterval& interval);

}  // namespace sdsm::trace_command
