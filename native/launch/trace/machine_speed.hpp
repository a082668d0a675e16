/// How fast one thread of this machine computes, for traces to be scaled to machines of another speed.
#pragma once

#include "workloads/trace/trace.hpp"

namespace sdsm::trace_command {

/// Measures three loops, which are fixed to the instruction, so that no compiler or option changes what they measure:
/// - arithmetic: additions and multiplications of double precision over a moving mean of four values, all in the
///   first-level cache, without vectors;
/// - cache: loads of which each needs the last one's result, all in 256 KiB;
/// - memory: the sum of an array of 4 MiB that has just been flushed from all caches.
/// Of each the best of several passes counts, in processor time, as interruptions and low clocks only slow one down.
/// `spread` is 0. Takes some 10 ms.
trace::Speed measured_speed();

}  // namespace sdsm::trace_command
