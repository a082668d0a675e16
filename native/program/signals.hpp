/// Signals: those that the engine needs for itself, and what the program believes about them.
#pragma once

#include <csignal>
#include <cstdint>

namespace sdsm::program {

/// Interrupts a thread that has run for too long. From the range that the C library leaves to programs.
inline const int preemption_signal = SIGRTMAX - 3;

/// The C library's own function: this library interposes `sigaction`.
int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old);

/// As long as one lives, the program's handlers of signals wait: in the middle of what the run-time does they would
/// find memory that is neither before nor after it, and ask for pages between a question and its answer. Costs nothing
/// for programs without handlers. May be nested.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  bool is_holding_ = false;
  std::uint64_t before_ = 0;  ///< the kernel's mask
};

/// Whether the program has a handler of its own for SIGSEGV or SIGTRAP.
bool is_handled_by_program(int signal);

/// A fault that no traced page explains is the program's own: its handler gets it, else the default ends the program.
void pass_fault_to_program(int signal, siginfo_t* info, void* context);

}  // namespace sdsm::program
