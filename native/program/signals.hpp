/// Signals: those that the engine needs for itself, and what the program believes about them.
#pragma once

#include <csignal>

namespace sdsm::program {

/// Interrupts a thread that has run for too long. From the range that the C library leaves to programs.
inline const int preemption_signal = SIGRTMAX - 3;

/// The C library's own function: this library interposes `sigaction`.
int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old);

/// A fault that no traced page explains is the program's own: its handler gets it, else the default ends the program.
void pass_fault_to_program(int signal, siginfo_t* info, void* context);

}  // namespace sdsm::program
