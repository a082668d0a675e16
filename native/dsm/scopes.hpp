/// JIAJIA's write notices on their way: this process tells a manager which pages it changed, with the question or the
/// message that hands memory over, and hears with the manager's answer what others changed. models/jiajia/ decides
/// which; nobody else is told anything.
#pragma once

#include <vector>

#include "models/jiajia/messages.hpp"
#include "models/jiajia/rules.hpp"
#include "native/dsm/asking.hpp"
#include "native/dsm/lock_names.hpp"
#include "native/pthreads/engine.hpp"

namespace sdsm::dsm {

/// Where notices are handed on, and those that this process hands on there now.
struct Scoped {
  jiajia::SyncObject object;
  bool hands = false;
  std::vector<jiajia::Notice> handed = {};
};

/// The object that a lock's users hand memory on by: JIAJIA's own locks have one holder.
jiajia::SyncObject object_of(LockId lock, engine::Demand demand);

/// What this process hands on when it gives an object back, or counts one up. Ends the run where the object is none of
/// JIAJIA's own and these alone are asked for, or where another thread has taken the lock.
Scoped handed_at(LockId lock, engine::Demand demand) REQUIRES(application);
Scoped handed_at(const jiajia::SyncObject& object) REQUIRES(application);
/// The same at a barrier. Who comes to wait for work does not know of how many threads the next team is: hands on
/// all that it knows.
Scoped handed_at_barrier() REQUIRES(application);

/// Counts the messages that so many notices for the object take in the protocol.
void count_sync_messages(ProcessId to, jiajia::MessageKind kind, const jiajia::SyncObject& object, std::size_t notices)
    REQUIRES(application);

/// As ask() and tell(), with notices. Other protocols have none.
Head ask_in_scope(ProcessId to, Head head, const Scoped& scoped, const void* payload = nullptr, Wait wait = Wait::alone,
                  std::uint64_t until_ns = no_end) REQUIRES(application);
void tell_in_scope(ProcessId to, Head head, const Scoped& scoped) REQUIRES(application);

/// A barrier has answered, and said how many threads were at it: counts what this process told there.
void count_arrival() REQUIRES(application);
/// Heeds the notices of the last answer: of the object's grant, or of the barrier.
void apply_notices(const jiajia::SyncObject& object) REQUIRES(application);
void apply_barrier_notices() REQUIRES(application);

/// Ends the run where --scope lock leaves no way to hand memory on by `what`.
void need_openmp_scope(const char* what);

}  // namespace sdsm::dsm
