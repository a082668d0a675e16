/// Write notices under Invalidation::changed (models/scash/page_state.hpp). The message after the flush carries a
/// process's notices of what its node wrote to the barrier's master. The answer carries those of all members.
#pragma once

#include "native/dsm/memory/node.hpp"
#include "native/dsm/wire/wire.hpp"

namespace sdsm::dsm {

inline bool has_notices() {
  return self.invalidation == Invalidation::changed;
}

/// Adds a notice of this thread's atomic operation on the page, wherever its home is, for the nodes with copies.
void note_operation(const Place& place) REQUIRES(application) EXCLUDES(node().mutex);

/// Sends the node's notices with `arrival`, of the team's barrier after the flush. Returns the master's answer.
Head exchange_notices(Head arrival) REQUIRES(application) EXCLUDES(node().mutex);

/// Ends the node's epoch: applies a barrier's rule to its pages, by the notices of exchange_notices(). False if a local
/// peer has done so. `has_unnoticed`: changes came home without notices.
bool end_epoch(bool has_unnoticed) REQUIRES(application, node().mutex);

// The barrier's master keeps notices. All members of the team receive them at its barrier.

void gather_notices(const Head& head, const std::byte* notices) REQUIRES(handling);
/// A member of the team has come, with notices.
void note_arrival_with(const Head& head, const std::byte* notices) REQUIRES(handling);
void tell_more_notices(ProcessId from, const Head& head) REQUIRES(handling);
/// Whether all that the members changed is home. False the second time.
bool take_changes_home() REQUIRES(handling);
/// Answers threads 0 to size - 1.
void release_with_notices(std::uint32_t size, Head release) REQUIRES(handling);

}  // namespace sdsm::dsm
