/// The program's own compute time: thread CPU time without that of the tracer's code.
#pragma once

#include <x86intrin.h>

#include <cstdint>

#include "native/guest/runtime/nanoseconds.hpp"
#include "native/guest/runtime/thread_safety.hpp"

namespace sdsm::tracer {

/// Nanoseconds of CPU time of the calling thread. A system call (0.2 to 0.5 us).
inline std::uint64_t thread_cpu_ns() {
  return program::read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/// Rate of the processor's time stamp counter, and the cost of measuring. Found once, at start.
struct ClockRates {
  double ns_per_tick = 1;
  std::uint64_t read_ns = 0;     ///< CPU time that an interval's two clock reads add
  std::uint64_t trap_ticks = 0;  ///< from a trap instruction through its handler, which does nothing, to the next one
};
extern const ClockRates& clock_rates;

/// Measures the rates; takes about 2 ms.
void calibrate_clocks() REQUIRES(program::starting);

/// One interval's compute time. Between touches in quick succession it reads the time stamp counter, as a system call
/// would make a touch a tenth slower. After a longer gap the thread may have been off its processor, so it reads the
/// CPU clock. The kernel's time to deliver a fault counts as the program's: it varies too much to be subtracted here
/// (native/launch/trace/touch_places.hpp does it).
class Stopwatch {
 public:
  void reset() { own_ns_ = 0; }

  /// Goes on from `own_ns`, and forgets the time after it.
  void rewind(std::uint64_t own_ns) {
    own_ns_ = own_ns;
    resume();
  }

  void resume() {
    rebase(own_ns_);
    excluded_ticks_ = 0;
  }

  /// Stops, and adds the time since the start.
  void pause() {
    const std::uint64_t now = own_at_cpu(thread_cpu_ns());
    const std::uint64_t cost = clock_rates.read_ns;
    own_ns_ = now > own_ns_ + cost ? now - cost : own_ns_;
  }

  std::uint64_t elapsed_ns() const { return own_ns_; }

  /// Takes off, while it runs, `ticks` of work that the untraced program would not have done.
  void exclude(std::uint64_t ticks) { excluded_ticks_ += ticks; }

  /// Enters a page touch at time stamp `ticks`; returns the compute time up to it.
  std::uint64_t enter_touch(std::uint64_t ticks) {
    if (ticks - last_ticks_ > long_gap_ticks) {
      rebase(own_at_cpu(thread_cpu_ns()));
      return base_own_ns_;
    }
    return own_at_ticks(ticks);
  }

  /// Leaves the page touch that was entered at `entered_ticks`, when `own_ns` had passed.
  void leave_touch(std::uint64_t entered_ticks, std::uint64_t own_ns) {
    const std::uint64_t now = __rdtsc();
    if (now - entered_ticks > long_gap_ticks) {
      rebase(own_ns);
      return;
    }
    const std::uint64_t start = entered_ticks > base_ticks_ ? entered_ticks : base_ticks_;
    excluded_ticks_ += now - start;
    last_ticks_ = now;
  }

 private:
  /// 50 to 200 us at 1 to 4 GHz, which is less than another process's time slice.
  static constexpr std::uint64_t long_gap_ticks = 200'000;

  void rebase(std::uint64_t own_ns) {
    base_own_ns_ = own_ns;
    base_cpu_ns_ = thread_cpu_ns();
    base_ticks_ = last_ticks_ = __rdtsc();
    excluded_ticks_ = 0;
  }

  std::uint64_t own_at_ticks(std::uint64_t ticks) const {
    const std::uint64_t passed = ticks - base_ticks_;
    if (ticks < base_ticks_ || passed < excluded_ticks_) return base_own_ns_;
    return base_own_ns_ +
           static_cast<std::uint64_t>(static_cast<double>(passed - excluded_ticks_) * clock_rates.ns_per_tick);
  }

  std::uint64_t own_at_cpu(std::uint64_t cpu_ns) const {
    const auto excluded = static_cast<std::uint64_t>(static_cast<double>(excluded_ticks_) * clock_rates.ns_per_tick);
    const std::uint64_t passed = cpu_ns - base_cpu_ns_;
    return base_own_ns_ + (passed > excluded ? passed - excluded : 0);
  }

  std::uint64_t own_ns_ = 0;       ///< up to the last pause
  std::uint64_t base_own_ns_ = 0;  ///< at the base
  std::uint64_t base_cpu_ns_ = 0;
  std::uint64_t base_ticks_ = 0;
  std::uint64_t last_ticks_ = 0;      ///< end of the last touch
  std::uint64_t excluded_ticks_ = 0;  ///< spent on touches since the base
};

}  // namespace sdsm::tracer
