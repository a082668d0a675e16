/// A thread's shared memory: the effect of its touches and synchronisations under the run's protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "models/atomics.hpp"
#include "models/compared_words.hpp"
#include "models/diff.hpp"
#include "models/ids.hpp"
#include "models/protocol/pages.hpp"
#include "models/protocol/registry.hpp"
#include "sim/lock_manager.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::sim {

class Cluster;
class Thread;

/// Adjacent pages of one home that a thread touches in order.
struct Touch {
  PageId first;
  std::uint64_t pages;
  ProcessId home;  ///< where the pages were placed
  Access access;
  Change change;
  const trace::TouchRun* run;  ///< the interval's run; null for an administrative page
};

/// Why a thread arrives at a barrier.
enum class Arrival : std::uint8_t { inside, fork_master, fork_worker };

/// One thread's view of the shared memory, in a run of more than one thread. Its functions may block the thread's
/// actor.
class Memory {
 public:
  virtual ~Memory() = default;

  /// The thread begins an interval, after `before` others. The reference stays valid until finish_interval().
  virtual void begin(const trace::Interval& /*interval*/, std::uint64_t /*before*/) {}
  virtual void touch(const Touch& touch) = 0;
  /// All touches and computing of the interval are done; its event comes next, the thread's `event`-th.
  virtual void finish_interval(std::uint64_t event) = 0;

  /// Waits at a barrier of threads 0 to team - 1, which include this one. A worker is idle until the master forks.
  virtual void barrier(std::uint32_t team, Arrival why) = 0;
  /// Returns the time of a barrier in a team of one.
  virtual Time lone_barrier() const { return {}; }
  /// The thread leaves its region, after the region's last barrier.
  virtual void leave_region() {}
  /// Waits at a barrier of gang number `gang`, which has `size` members, this thread among them. Throws
  /// std::invalid_argument if the protocol has no gangs' barriers.
  virtual void gang_barrier(std::uint32_t gang, std::uint32_t size);
  /// Makes the thread's changes visible to others and their changes to it, as far as the protocol's flush does.
  virtual void flush() = 0;
  /// Does what the protocol does at an atomic fence.
  virtual void fence() = 0;
  /// Reserves the lock for a thread that only tries to take it; acquire() or disclaim() follows at once. Returns false
  /// if the lock's manager knows that another thread has or wants it. A protocol that cannot tell lets the thread wait.
  virtual bool claim(LockId /*lock*/) { return true; }
  virtual void disclaim(LockId /*lock*/) {}
  /// Whether the thread was the last to take the lock and has not released it.
  virtual bool has(LockId /*lock*/) { return true; }
  /// Takes the lock, with the protocol's handling of changes. `turn`: which of the lock's grants this must be, from 0;
  /// without it the lock is granted in order of arrival.
  virtual void acquire(LockId lock, std::optional<std::uint64_t> turn) = 0;
  virtual void release(LockId lock) = 0;
  /// Post to, or wait for, a flag of a doacross loop or of a library's object.
  virtual void post(std::uint64_t flag, FlagPost posted) = 0;
  virtual void wait(std::uint64_t flag, FlagWait wait) = 0;
  /// Does an atomic operation at the page's home, a full fence if it `orders`. Returns ComparedWords::operate().
  virtual std::optional<Moment> operate(const WordOperation& operation, ProcessId home, bool orders) = 0;
  /// Waits in the program's own loop until `events` events of thread `by` have begun.
  virtual void spin(ProcessId by, std::uint64_t events) = 0;

  /// The thread has played all of its `intervals`.
  virtual void end(std::uint64_t /*intervals*/) {}
  /// Describes what the thread waits for, for the report of a stuck run; may be empty.
  virtual std::string position() const { return {}; }
};

/// State of a protocol that all threads share.
class Room {
 public:
  virtual ~Room() = default;
  virtual std::unique_ptr<Memory> memory_of(Thread& thread) = 0;
};

/// Each protocol that can be simulated defines its room in a file of its own.
std::unique_ptr<Room> make_room(Cluster& cluster);

}  // namespace sdsm::sim
