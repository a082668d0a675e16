/// The door to a protocol: what it does with this process's pages, at synchronisations, and for other processes. A run
/// has one protocol. models/ decides about pages; what stands behind the door moves bytes and sets protections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "models/locks.hpp"
#include "models/protocol/pages.hpp"
#include "native/dsm/memory/node.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/dsm/wire/modelled_messages.hpp"
#include "native/dsm/wire/wire.hpp"
#include "native/guest/code/atomic_operation.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {

/// A thread's place in the program. A loop comes to an instruction again, but mostly with other registers.
struct At {
  std::uintptr_t instruction = 0;
  std::uint64_t registers = 0;  ///< a hash of the general ones

  bool operator==(const At&) const = default;
};

/// What threads hand memory on by: a lock, which one of them holds, or else a flag (models/locks.hpp); or a barrier.
struct SyncPoint {
  enum class Kind : std::uint8_t { lock, flag, barrier };

  Kind kind = Kind::lock;
  LockId lock = ordered_lock;  ///< or the lock that doacross flags count as
  std::uint64_t flag = 0;
  ProcessId manager{};  ///< or master
  bool is_held = true;  ///< by this process: of a lock that it gives back
};

/// The master's answer at a team's barrier.
struct Release {
  Head head;
  bool tells_clock = true;  ///< it has the initial thread's readings of the clock
};

class Protocol {
 public:
  constexpr Protocol() = default;
  Protocol& operator=(Protocol&&) = delete;

  virtual const ModelOfMessages& messages() const = 0;

  // On the application thread: pages.

  virtual void start() REQUIRES(starting) = 0;
  /// Serves a fault, and opens the page. Returns the kind of fault (models/protocol/kinds.hpp); none where
  /// the protocol allows the access, and the page was only to be opened again.
  virtual std::optional<std::size_t> take_fault(const Place& place, Access access, const At& at) REQUIRES(application)
      EXCLUDES(node().mutex) = 0;
  /// Counts a request for a page and `further` ones.
  virtual void count_page_request(ProcessId home, std::uint64_t further) REQUIRES(application) = 0;
  /// Sends what this process changed home, as the rule of `sync` says, and returns when it is there. Nothing before
  /// pages are protected.
  virtual void flush(Sync sync) REQUIRES(application) EXCLUDES(node().mutex) = 0;
  /// Flushes pages of a block that is being freed, as a later block there has to show the old content.
  virtual void flush_pages(const AddressRange& pages) REQUIRES(application, node().mutex) = 0;
  /// Begins an interval, after a flush: drops copies as the rule of `sync` says. What handlers of signals have stored
  /// since the flush, as they may while the thread waits for a grant, must not get lost.
  virtual void begin_interval(Sync sync) REQUIRES(application) EXCLUDES(node().mutex) = 0;

  // On the application thread: synchronisation.

  /// Asks the manager of a lock or flag for a grant, or for something that makes others go on.
  virtual Head ask_at(const SyncPoint& point, Head question, const void* payload = nullptr, Wait wait = Wait::alone,
                      std::uint64_t until_ns = no_end) REQUIRES(application) = 0;
  /// Counts that question, and notes what came with its grant.
  virtual void take_grant(const SyncPoint& point, const Head& grant) REQUIRES(application) = 0;
  /// Hands memory on: sends the manager of a lock or flag a message, and counts it. Waits for the answer if
  /// `is_answered`.
  virtual Head hand_on(const SyncPoint& point, Head message, bool is_answered) REQUIRES(application) = 0;

  /// Comes to the team's barrier, and waits for its release. `has_flushed`: what this process wrote is home.
  virtual Release arrive(Head arrival, bool has_flushed, Wait wait) REQUIRES(application) = 0;
  /// Notes a release that does not end the program.
  virtual void note_release() REQUIRES(application) {}
  /// Counts the message of one `ask` of the course.
  virtual void count_arrival(ProcessId /*master*/) REQUIRES(application) {}
  /// Applies the write notices of the point's answer.
  virtual void apply(const SyncPoint& /*point*/) REQUIRES(application) EXCLUDES(node().mutex) {}
  /// Ends the run if the protocol's options leave no way to hand memory on by `what`.
  virtual void need_openmp_scope(const char* /*what*/) const {}
  /// Comes to a barrier. Others may wait for what this thread stored, and come only after they see it.
  virtual void come_to_barrier() REQUIRES(application) EXCLUDES(node().mutex) {}
  /// All threads have met; everything is flushed and dropped.
  virtual void pass_barrier_of_all() REQUIRES(application) EXCLUDES(node().mutex) {}

  // On the application thread: what is handed on without a lock or a barrier (Traits in models/protocol/tables.hpp).

  /// Notes whether other threads run the program too, as a team of several does.
  void note_peers(bool has_peers) REQUIRES(application) {
    has_peers_ = has_peers;
    if (is_wait_due_) come_to_wait();
  }
  bool has_peers() const REQUIRES(application) { return has_peers_; }
  /// The thread comes to a loop in which the program waits for a store. The store may be there already.
  void come_to_wait() REQUIRES(application) EXCLUDES(node().mutex) {
    is_wait_due_ = !has_peers_;
    if (has_peers_) take_plain_wait();
  }
  /// Whether the thread sees others' stores as they come, or there are none. Then nobody need look for its waits.
  virtual bool sees_all_stores() const REQUIRES(application) = 0;
  /// The thread waits for a store. Returns whether it may find a newer one from now on. With Traits::sees_plain_stores.
  virtual bool look_for_stores() REQUIRES(application) EXCLUDES(node().mutex) { return false; }
  /// Lets others see what the thread has stored.
  virtual void show_stores() REQUIRES(application) EXCLUDES(node().mutex) {}
  /// Lets the service threads come to the node's tables, in a thread that uses them again and again.
  virtual void give_way() REQUIRES(application) EXCLUDES(node().mutex) {}
  /// Does an atomic operation; none where Traits::operates_in_lock is set.
  virtual program::AtomicOutcome operate(const Place& /*place*/, std::uintptr_t /*address*/,
                                         const program::AtomicOperation& /*operation*/) REQUIRES(application)
      EXCLUDES(node().mutex) {
    program::end_run({"an error of sdsm's: this protocol does atomic operations in a lock"});
  }
  /// Does a fence; nothing where Traits::flush_lock is set.
  virtual void fence() REQUIRES(application) EXCLUDES(node().mutex) {}

  // For other processes.

  /// Serves a message of the protocol's own kinds. False if it is of another kind.
  virtual bool serve(ProcessId from, const Head& head, const std::byte* payload) REQUIRES(handling) = 0;
  /// Tries again what had to wait. False if there is nothing.
  virtual bool try_again() REQUIRES(handling) { return false; }
  /// Takes from a question's front what this protocol adds to all. Returns the rest, of head.bytes bytes.
  virtual const std::byte* take_front(ProcessId /*from*/, Head& /*head*/, const std::byte* payload) REQUIRES(handling) {
    return payload;
  }
  /// Notices that were too many for a question or an answer.
  virtual void gather_notices(ProcessId from, const Head& head, const std::byte* notices) REQUIRES(handling) = 0;
  virtual void tell_more_notices(ProcessId from, const Head& head) REQUIRES(handling) = 0;
  virtual void count_page_reply(ProcessId to, std::uint32_t page_bytes) REQUIRES(handling) = 0;
  /// Sends a lock_grant.
  virtual void grant(ProcessId to, const Head& head) REQUIRES(handling) = 0;
  /// The barrier's master: a member of the team has come.
  virtual void note_arrival(ProcessId /*from*/, const Head& /*head*/, const std::byte* /*notices*/) REQUIRES(handling) {
  }
  /// The barrier's master: whether all that the members changed is home, now that they are here.
  virtual bool are_changes_home() REQUIRES(handling) = 0;
  /// Answers threads 0 to size - 1, which have come. This process goes on last: by then all is counted that it may
  /// read.
  virtual void release_team(std::uint32_t size, Head release) REQUIRES(handling) = 0;

 protected:
  ~Protocol() = default;  // never destroyed: it serves until the process ends

  /// The thread waits in a loop for another's plain store.
  virtual void take_plain_wait() REQUIRES(application) EXCLUDES(node().mutex) = 0;

 private:
  bool has_peers_ = false;
  bool is_wait_due_ = false;  ///< the thread came to a place where the program waits when no other thread ran
};

/// The run's protocol.
inline constinit Protocol* chosen_at_start GUARDED_BY(starting) = nullptr;
inline Protocol& the_protocol() NO_THREAD_SAFETY_ANALYSIS {
  return *chosen_at_start;
}
/// Sets it.
void choose_protocol(ProtocolKind kind) REQUIRES(starting);

}  // namespace sdsm::dsm
