/// What a thread of libgomp has from the one that began the region for which it was created: how it rounds and whether
/// it takes denormal numbers for zero (gcc's -ffast-math decides that once, at the program's start), and which signals
/// wait. Processes have neither from each other.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <csignal>
#include <cstdint>

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

}  // namespace sdsm::dsm
