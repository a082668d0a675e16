/// A stack, which its owner has open for good, changes in several places at once for its owner and for companions: a
/// diff holds what a thread has stored since its last one, in whatever order, and who waits for one of these stores may
/// look at another next. So the node's threads stand still meanwhile.
#pragma once

#include "native/dsm/node.hpp"

namespace sdsm::dsm {

/// Called by each application thread at its start: from then on it can be stopped.
void may_stand_still();

/// Where a handler of the run-time ends, in which the thread may have slept: who sleeps is not stopped.
void stand_still_if_asked();

/// While it lives, no application thread of the node executes the program's code, but one that has slept in a system
/// call of the program's until now. Who is in the run-time's handlers goes on there, and stops before it leaves them.
class StandStill {
 public:
  StandStill();
  ~StandStill();
  StandStill& operator=(StandStill&&) = delete;
};

}  // namespace sdsm::dsm
