/// Signals: those that the engine needs for itself, and what the program believes about them.
#pragma once

#include <csignal>
#include <cstdint>

namespace sdsm::program {

/// Interrupts a thread that has run for too long. From the range that the C library leaves to programs.
inline int preemption_signal() {
  return SIGRTMAX - 3;
}

/// The C library's own function: this library interposes `sigaction`.
int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old);

/// What a thread holds.
struct SignalState {
  int depth = 0;  ///< of HeldSignals
  bool is_blocked = false;
  std::uint64_t outside = 0;  ///< the kernel's mask outside of them all
};

/// As long as one lives, the program's handlers of signals wait: in the middle of what the run-time does they would
/// find memory that is neither before nor after it, and ask for pages between a question and its answer. For programs
/// without handlers, and nested, it costs no system call.
class HeldSignals {
 public:
  HeldSignals() { hold(); }
  ~HeldSignals() { release(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// The same where what is done has no scope of its own. A thread that holds nothing may release, too.
  static void hold();
  static void release();
  /// The calling thread holds them from now on; or, after a way out that destroys no object, no longer.
  static void hold_for_good();
  static void let_go();
  /// What the calling thread holds, with the kernel's mask in any case; and another thread's beginning with that.
  static SignalState held_now();
  static void take_over(const SignalState& held);
};

/// Blocks all signals but those of the run-time and of instructions, whether or not the program has handlers yet: where
/// another thread runs in this one's place, and a handler must run there.
class ShutSignals {
 public:
  ShutSignals();
  ~ShutSignals();
  ShutSignals(const ShutSignals&) = delete;
  ShutSignals& operator=(const ShutSignals&) = delete;

 private:
  std::uint64_t before_;  ///< the kernel's mask
};

/// Where all signals are blocked anyway: nothing is left to hold.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
};

/// Lets handlers in while it lives, wherever they are held.
class AdmittedSignals {
 public:
  AdmittedSignals();
  ~AdmittedSignals();
  AdmittedSignals(const AdmittedSignals&) = delete;
  AdmittedSignals& operator=(const AdmittedSignals&) = delete;

 private:
  SignalState before_;
};

/// Waits until there is something to read, and lets handlers in meanwhile. False after each handler.
bool wait_for_input(int descriptor);

/// Whether the program has a handler of its own for SIGSEGV or SIGTRAP.
bool is_handled_by_program(int signal);

/// A fault that no traced page explains is the program's own: its handler gets it, else the default ends the program.
void pass_fault_to_program(int signal, siginfo_t* info, void* context);

}  // namespace sdsm::program
