/// How fast one thread of this machine computes, for traces to be scaled to machines of another speed.
#pragma once

#include <cstdint>

namespace sdsm::trace_command {

/// Additions and multiplications of double precision that a thread does in a second: the best of several passes over
/// a moving mean of four values, all in the first-level cache, without vectors. The loop is fixed to the instruction,
/// so no compiler or option changes what it measures. Takes some ms of processor time.
std::uint64_t machine_speed();

}  // namespace sdsm::trace_command
