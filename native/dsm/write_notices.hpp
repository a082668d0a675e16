/// Invalidation::changed (models/scash/page_state.hpp): with the message that follows the flush, each process tells the
/// barrier's master what its node wrote; with the answer, all members hear what everybody wrote.
#pragma once

#include "native/dsm/node.hpp"
#include "native/dsm/wire.hpp"

namespace sdsm::dsm {

inline bool has_notices() {
  return self.invalidation == Invalidation::changed;
}

/// This thread does an atomic operation on the page, wherever its home is: nodes with copies have to hear of it.
void note_operation(const Place& place) REQUIRES(application) EXCLUDES(node().mutex);

/// `arrival`: of the team's barrier, behind the flush. Returns what the master says.
Head exchange_notices(Head arrival) REQUIRES(application) EXCLUDES(node().mutex);

/// Ends the node's epoch: applies the rule of a barrier to its pages, by what exchange_notices() heard. False if a
/// companion has done so.
bool end_epoch() REQUIRES(application, node().mutex);

}  // namespace sdsm::dsm
