/// The measured region, between the initial thread's first and last call of omp_get_wtime as this process knows them,
/// and what the process did in it and in all.
#pragma once

#include <cstdint>

#include "native/dsm/control.hpp"
#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// Calls of omp_get_wtime by the initial thread, and when the last one was.
struct ClockCalls {
  std::uint64_t count = 0;
  std::uint64_t last_ns = 0;
};
/// The calls that this process knows of. Any thread.
ClockCalls clock_calls();
/// This process learns how often the initial thread has called the clock.
void note_clock(const ClockCalls& calls) REQUIRES(application) EXCLUDES(handling);

/// What this process did. To be called at the end of the program.
Result result() REQUIRES(application) EXCLUDES(handling);

}  // namespace sdsm::dsm
