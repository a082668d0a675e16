/// A stack is open to its owner and to companions while a diff changes it word by word, and while it is copied for
/// another node; and a node's copy of one to its threads while it is compared with its twin. A thread that waits for
/// one of these words may look at another next, and must not find it older. So the node's threads stand still
/// meanwhile.
#pragma once

#include "native/dsm/node.hpp"
#include "native/program/signals.hpp"

namespace sdsm::dsm {

/// Called by each application thread at its start: from then on it can be stopped.
void may_stand_still();

/// Handlers in which the thread may have slept call this last: a sleeping thread gets no signal.
void stand_still_if_asked();

/// The run-time's work at a synchronisation, in which the thread may sleep.
class Synchronising {
 public:
  Synchronising() = default;
  ~Synchronising() { stand_still_if_asked(); }
  Synchronising& operator=(Synchronising&&) = delete;

 private:
  program::HeldSignals held_;
};

/// While it lives, the node's application threads execute no code of the program. Exception: a thread that wakes from a
/// system call of the program's meanwhile.
class StandStill {
 public:
  StandStill();
  ~StandStill();
  StandStill& operator=(StandStill&&) = delete;

 private:
  const bool is_application_;  ///< it is the application thread that changes something, and does not stand itself
};

}  // namespace sdsm::dsm
