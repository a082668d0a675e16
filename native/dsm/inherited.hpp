/// What a thread of libgomp has from the one that began the region for which it was created: how it rounds and whether
/// it takes denormal numbers for zero (gcc's -ffast-math decides that once, at the program's start), and which signals
/// wait. Processes have neither from each other.
#pragma once

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <csignal>
#include <cstdint>

#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

struct Inherited {
  std::uint32_t sse = 0;  ///< MXCSR, without the exceptions that were raised
  std::uint16_t x87 = 0;  ///< the control word
  std::uint64_t held_signals = 0;

  static Inherited of_this_thread() {
    constexpr std::uint32_t raised = 0x3f;
    Inherited own;
    own.sse = _mm_getcsr() & ~raised;
    asm volatile("fnstcw %0" : "=m"(own.x87));
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &own.held_signals, sizeof own.held_signals);
    return own;
  }

  void give_to_this_thread() const {
    _mm_setcsr(sse);
    asm volatile("fldcw %0" : : "m"(x87));
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &held_signals, nullptr, sizeof held_signals);
  }
};

/// What threads have together, as it was when the initial thread began a region: what it has set before holds for all.
struct ProcessState {
  std::uint32_t version = 0;  ///< counts the changes
  mode_t file_mask = 0;       ///< umask
  char locale[512] = {};      ///< setlocale; empty: a longer name
  char folder[1536] = {};     ///< the current one; empty: a longer name, or it is gone

  /// Before the program begins: all processes start with the same.
  static void begin() REQUIRES(application);
  static const ProcessState& of_initial() REQUIRES(application);
  /// What has changed since the last time: else, what threads have set themselves stays.
  void give_to_this_process() const REQUIRES(application);
};

}  // namespace sdsm::dsm
