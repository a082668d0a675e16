/// Signals: those that the engine needs for itself, and the view of them that the program gets.
#pragma once

#include <csignal>
#include <cstdint>

namespace sdsm::program {

/// Interrupts a thread that has run for too long. A real-time signal, which the C library leaves to programs.
inline int preemption_signal() {
  return SIGRTMAX - 3;
}

/// Stops a thread for a moment.
inline int stop_signal() {
  return SIGRTMAX - 4;
}
/// How often one of these has come to the calling thread, as their handlers note. A system call that they end with
/// EINTR goes on.
std::uint32_t times_interrupted();
void note_interruption();
/// How often a handler of the program's has run in the calling thread: then such a call ends for the program, too.
std::uint32_t times_handled();

/// The C library's own function: this library interposes `sigaction`.
int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old);

/// Sets the run-time's own handler of a signal. It runs on the signal stack: the thread's own may be protected, or
/// another thread's turn may come in between. The program's own handlers wait.
void take_signal(int signal, void (*handler)(int, siginfo_t*, void*), int flags = 0);

/// The signals that a thread holds.
struct SignalState {
  int depth = 0;  ///< of HeldSignals
  bool is_blocked = false;
  std::uint64_t outside = 0;  ///< the kernel's mask outside of them all
};

/// While one lives, the program's signal handlers wait. Within the run-time's work a handler would find memory half
/// changed, and would ask for pages between a question and its answer. Free when nested or without handlers.
class HeldSignals {
 public:
  HeldSignals() { hold(); }
  ~HeldSignals() { release(); }
  HeldSignals& operator=(HeldSignals&&) = delete;

  /// hold() and release() serve work without a scope of its own. A thread that holds nothing may release, too.
  static void hold();
  static void release();
  /// Whether the calling thread holds them now.
  static bool are_held();
  /// Makes the calling thread hold signals from now on; or no longer, after a jump that destroyed no object.
  static void hold_for_good();
  static void let_go();
  /// The calling thread's state, always with the kernel's mask; and how another thread starts with the same.
  static SignalState held_now();
  static void take_over(const SignalState& held);
};

/// Blocks all signals but the run-time's and those of instructions, whether or not the program has handlers: while
/// another thread runs in this one's place, handlers must run there.
class ShutSignals {
 public:
  ShutSignals();
  ~ShutSignals();
  ShutSignals& operator=(ShutSignals&&) = delete;

 private:
  std::uint64_t before_;  ///< the kernel's mask
};

/// Marks code that runs with all signals blocked already: while one lives, HeldSignals have nothing to do.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals& operator=(BlockedSignals&&) = delete;
};

/// While one lives in a handler of SIGSEGV, another SIGSEGV may interrupt it.
class AdmittedFaults {
 public:
  AdmittedFaults();
  ~AdmittedFaults();
  AdmittedFaults& operator=(AdmittedFaults&&) = delete;

 private:
  std::uint64_t before_;  ///< the kernel's mask
};

/// Lets handlers run while it lives, though they are held.
class AdmittedSignals {
 public:
  AdmittedSignals();
  ~AdmittedSignals();
  AdmittedSignals& operator=(AdmittedSignals&&) = delete;

 private:
  SignalState before_;
};

/// Waits until there is something to read, and lets handlers run meanwhile. Returns false after each handler, and when
/// `patience_ns` are over (~0: no limit). Without handlers and without a limit it may return true at once.
bool wait_for_input(int descriptor, std::uint64_t patience_ns);

/// Whether the program has a handler of its own for SIGSEGV or SIGTRAP.
bool is_handled_by_program(int signal);

/// Notes that the program has asked for shared memory that it may not read or write, and gets it open all the same.
/// Ends the run if it has a handler of SIGSEGV, or once it sets one: the faults that it waits for never come.
void note_shut_by_program();

/// A program's set of signals to block, without those that the run-time needs: a touch while SIGSEGV is blocked would
/// kill the program.
sigset_t without_own(const sigset_t& wanted);

/// Passes a fault that no traced page explains to the program's handler, or to the default, which ends the program.
void pass_fault_to_program(int signal, siginfo_t* info, void* context);

}  // namespace sdsm::program
