#pragma once

#include <csignal>

namespace sdsm::commands {

/// SIGINT, SIGTERM and SIGHUP then interrupt the process's waits, and kill it no more. Ignored signals stay ignored.
void catch_interruptions();

/// Returns the signal that has come, or 0.
int interruption();

/// Delays those signals while an object lives, so that nothing is left half done.
class HeldInterruptions {
 public:
  HeldInterruptions();
  ~HeldInterruptions();
  HeldInterruptions& operator=(HeldInterruptions&&) = delete;

 private:
  sigset_t before_;
};

/// Throws RunError with this text if such a signal has come.
void throw_if_interrupted(const char* text);

}  // namespace sdsm::commands
