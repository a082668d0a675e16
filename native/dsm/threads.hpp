/// The threads of a process, as capabilities (native/program/thread_safety.hpp): which of them may touch what. The
/// application thread runs the program and asks other processes, the service thread answers them. Until the application
/// thread begins, the one that starts the process has its role.
#pragma once

#include "native/program/signals.hpp"
#include "native/program/thread_safety.hpp"

namespace sdsm::dsm {

using program::starting;
inline constexpr program::Role application{"the application thread"};
inline constexpr program::Role service{"the service thread"};

/// Held while a request is handled: by the service thread, or by the application thread with one to its own process.
inline constinit program::Mutex handling;

/// Holds a mutex, and back the program's handlers of signals, for as long as it lives.
class SCOPED_CAPABILITY Held {
 public:
  explicit Held(program::Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Held() RELEASE() { mutex_.unlock(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  program::HeldSignals signals_;
  program::Mutex& mutex_;
};

}  // namespace sdsm::dsm
