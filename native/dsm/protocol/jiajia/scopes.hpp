/// JIAJIA's write notices on their way. This process sends a manager notices of the pages that it changed, with the
/// question or the message that hands memory over. The manager's answer brings the notices of others. models/jiajia/
/// decides which; no other process gets any.
#pragma once

#include <vector>

#include "models/jiajia/messages.hpp"
#include "models/jiajia/rules.hpp"
#include "native/dsm/requests/asking.hpp"

namespace sdsm::dsm {

/// An object where notices are handed on, and those that this process hands on there now.
struct Scoped {
  jiajia::SyncObject object;
  bool hands = false;
  std::vector<jiajia::Notice> handed = {};
};

/// What this process hands on when it gives back a lock that it holds, or counts an object up.
Scoped handed_by(LockId lock) REQUIRES(application);
Scoped handed_at(const jiajia::SyncObject& object) REQUIRES(application);
/// What this process hands on at a barrier: all that it knows, as a waiting worker does not know the next team.
Scoped handed_at_barrier() REQUIRES(application);

/// Counts the messages that so many notices for the object take in the protocol.
void count_sync_messages(ProcessId to, jiajia::MessageKind kind, const jiajia::SyncObject& object, std::size_t notices)
    REQUIRES(application);

/// As ask() and tell(), with notices.
Head ask_in_scope(ProcessId to, Head head, const Scoped& scoped, const void* payload = nullptr, Wait wait = Wait::alone,
                  std::uint64_t until_ns = no_end) REQUIRES(application);
void tell_in_scope(ProcessId to, Head head, const Scoped& scoped) REQUIRES(application);

/// Counts the notices that this process sent to a barrier, whose answer says how many threads were at it.
void count_arrival() REQUIRES(application);
/// Apply the notices of the last answer: the object's grant, or the barrier's release.
void apply_notices(const jiajia::SyncObject& object) REQUIRES(application);
void apply_barrier_notices() REQUIRES(application);

}  // namespace sdsm::dsm
