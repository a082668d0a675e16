/// Counts what the process did in the measured region and in all. The region lies between the initial thread's first
/// and last reading of the clocks that bound it (rank_of), as this process knows them.
#pragma once

#include <cstdint>

#include "models/program/clocks.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/control.hpp"
#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

/// The initial thread's readings of such clocks, and when the last one was.
struct ClockCalls {
  std::uint64_t count = 0;  ///< with the clocks' rank (with_rank)
  std::uint64_t last_ns = 0;
  /// Whether that was nearer to the initial thread's last barrier than to the one that it has come to.
  bool is_behind_barrier = false;

  /// The same for the first reading of its rank, if that was since the last barrier, too.
  bool is_first_behind_barrier = false;

  /// The form in messages.
  std::uint64_t number() const {
    return count | (is_behind_barrier ? behind_barrier : 0) | (is_first_behind_barrier ? first_behind_barrier : 0);
  }
  static ClockCalls received(std::uint64_t number, std::uint64_t last_ns) {
    return {number & ~(behind_barrier | first_behind_barrier), last_ns, (number & behind_barrier) != 0,
            (number & first_behind_barrier) != 0};
  }

 private:
  // Bits of no rank.
  static constexpr std::uint64_t behind_barrier = std::uint64_t{1} << 63;
  static constexpr std::uint64_t first_behind_barrier = std::uint64_t{1} << 62;
};
/// The calls that this process knows of. Any thread.
ClockCalls clock_calls();
/// Notes how often the initial thread has called the clock, as a barrier's answer says. After a call within a parallel
/// region this process bounds its own part where it came to that barrier, or where it left the one before: whichever
/// was nearer for the initial thread. `waited_for_work`: it is out of the region.
void note_clock_calls(const ClockCalls& calls, bool waited_for_work) REQUIRES(application) EXCLUDES(handling);
void note_arrival() REQUIRES(application) EXCLUDES(handling);
void note_leaving() REQUIRES(application) EXCLUDES(handling);
/// Notes that the initial thread reads a clock.
void note_own_clock(ClockSource source, std::uint64_t now_ns) REQUIRES(application) EXCLUDES(handling);

/// The result of this process, until `ended_ns`. To be called at the end of the program.
Result result(std::uint64_t ended_ns = now_ns()) REQUIRES(application) EXCLUDES(handling);

}  // namespace sdsm::dsm
