/// Stops the node's application threads while a page that they have open changes or is compared. A stack stays open to
/// its owner and to local peers while a diff changes it word by word, and while it is copied for another node; a node's
/// copy of one stays open while it is compared with its twin. A thread that waits for one of these words may load
/// another next, and must not find it older.
#pragma once

#include "native/dsm/memory/node.hpp"
#include "native/guest/runtime/signals.hpp"

namespace sdsm::dsm {

/// Called by each application thread at its start: others can stop it from then on.
void allow_stops();

/// Stops if somebody wants it. A sleeping thread gets no signal, so handlers in which it may have slept call this last.
void stop_if_asked();

/// Work of the run-time in which the application thread may sleep: a synchronisation, a question to another process.
class SlowCall {
 public:
  SlowCall() = default;
  ~SlowCall() { stop_if_asked(); }
  SlowCall& operator=(SlowCall&&) = delete;

 private:
  program::HeldSignals held_;
};

/// While it lives, the node's application threads execute no code of the program. Exception: a thread that wakes from a
/// system call of the program's meanwhile.
class StopTheWorld {
 public:
  StopTheWorld();
  ~StopTheWorld();
  StopTheWorld& operator=(StopTheWorld&&) = delete;

 private:
  const bool is_application_;  ///< the application thread itself changes something, and goes on
};

}  // namespace sdsm::dsm
