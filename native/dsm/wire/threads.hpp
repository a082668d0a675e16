/// The threads of a process as capabilities (native/guest/runtime/thread_safety.hpp). The application thread runs the
/// program and asks other processes; the service thread answers them. Until the application thread begins, the thread
/// that starts the process has its role.
#pragma once

#include "native/guest/runtime/signals.hpp"
#include "native/guest/runtime/thread_safety.hpp"

namespace sdsm::dsm {

using program::starting;
inline constexpr program::Role application{"the application thread"};
inline constexpr program::Role service{"the service thread"};

/// Held while a request is handled: by the service thread, or by the application thread for its own request.
inline constinit program::Mutex handling;

/// While it lives, holds a mutex and keeps the program's signal handlers waiting.
class SCOPED_CAPABILITY Held {
 public:
  explicit Held(program::Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Held() RELEASE() { mutex_.unlock(); }

 private:
  program::HeldSignals signals_;
  program::Mutex& mutex_;
};

}  // namespace sdsm::dsm
