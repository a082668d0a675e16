/// The measured region, between the initial thread's first and last reading of the clocks that bound it
/// (trace::rank_of) as this process knows them, and what the process did in it and in all.
#pragma once

#include <cstdint>

#include "native/dsm/clock.hpp"
#include "native/dsm/control.hpp"
#include "native/dsm/threads.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::dsm {

/// The initial thread's readings of such clocks, and when the last one was.
struct ClockCalls {
  std::uint64_t count = 0;  ///< with the clocks' rank (with_rank)
  std::uint64_t last_ns = 0;
};
/// The calls that this process knows of. Any thread.
ClockCalls clock_calls();
/// This process learns how often the initial thread has called the clock.
void note_clock(const ClockCalls& calls) REQUIRES(application) EXCLUDES(handling);
/// The initial thread reads a clock.
void note_own_clock(trace::ClockSource source, std::uint64_t now_ns) REQUIRES(application) EXCLUDES(handling);

/// What this process did until `ended_ns`. To be called at the end of the program.
Result result(std::uint64_t ended_ns = now_ns()) REQUIRES(application) EXCLUDES(handling);

}  // namespace sdsm::dsm
