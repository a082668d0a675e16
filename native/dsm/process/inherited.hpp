/// What a libgomp thread inherits from the thread that creates it, and processes do not inherit from each other: how it
/// rounds, whether denormal numbers are zero (as gcc's -ffast-math sets at the start), and which signals wait.
#pragma once

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <csignal>
#include <cstdint>

#include "native/dsm/wire/threads.hpp"

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

/// State that threads share, as the initial thread left it when it began a region.
struct ProcessState {
  std::uint32_t version = 0;  ///< counts the changes
  mode_t file_mask = 0;       ///< umask
  char locale[512] = {};      ///< setlocale; empty: a longer name
  char folder[1536] = {};     ///< the current one; empty: a longer name, or it is gone

  /// Before the program begins: all processes start with the same.
  static void begin() REQUIRES(application);
  static const ProcessState& of_initial() REQUIRES(application);
  /// Sets what has changed since the last time. The rest stays as this process's thread has set it.
  void give_to_this_process() const REQUIRES(application);
};

}  // namespace sdsm::dsm
