/// Where barriers drop changed copies only (models/scash/page_state.hpp), each process tells the barrier's master what
/// its node wrote, with the message that follows the flush, and all members hear of everybody's with the answer.
#pragma once

#include "native/dsm/node.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

inline bool has_notices() {
  return self.invalidation == Invalidation::changed;
}

/// `arrival`: of the team's barrier, behind the flush. Returns what the master says.
Head exchange_notices(Head arrival) REQUIRES(application) EXCLUDES(node().mutex);

/// Ends the node's epoch, with what exchange_notices() heard: its pages are as the rule of a barrier says. False if a
/// companion has done so.
bool end_epoch() REQUIRES(application, node().mutex);

}  // namespace sdsm::dsm
