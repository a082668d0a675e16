/// A thread's shared memory: what its touches and synchronisations do under the run's protocol.
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

/// Pages of one home that a thread touches one after another.
struct Touch {
  PageId first;
  std::uint64_t pages;
  ProcessId home;  ///< as they were placed
  Access access;
  Change change;
  const trace::TouchRun* run;  ///< the interval's run; null for an administrative page
};

/// Why a thread comes to a barrier.
enum class Arrival : std::uint8_t { inside, fork_master, fork_worker };

/// Of one thread of a run of several. Functions may block the thread's actor.
class Memory {
 public:
  virtual ~Memory() = default;

  /// An interval of the trace begins, after `before` others of the thread. It stays valid until finish_interval().
  virtual void begin(const trace::Interval& interval, std::uint64_t before) = 0;
  virtual void touch(const Touch& touch) = 0;
  /// The interval's touches and computing are over; its event comes next, the thread's `event`-th.
  virtual void finish_interval(std::uint64_t event) = 0;

  /// A barrier of threads 0 to team - 1, of which it is one. Until the master forks, a worker is idle.
  virtual void barrier(std::uint32_t team, Arrival why) = 0;
  /// What a barrier of a team of one takes.
  virtual Time lone_barrier() const { return {}; }
  /// The thread's region is over: behind its last barrier.
  virtual void leave_region() {}
  /// A barrier of the `size` threads, this one among them, that come to barriers of this gang. Throws
  /// std::invalid_argument where the protocol has none.
  virtual void gang_barrier(std::uint32_t gang, std::uint32_t size);
  /// Others may see what the thread changed, and it what they did, as far as the protocol's flush goes.
  virtual void flush() = 0;
  /// The same, of an atomic fence.
  virtual void fence() = 0;
  /// The thread, which only tries to take the lock, is to have it: acquire() follows, or disclaim() at once. False if
  /// another has it or has asked for it, as far as its manager knows. A protocol that does not tell has it wait.
  virtual bool claim(LockId /*lock*/) { return true; }
  virtual void disclaim(LockId /*lock*/) {}
  /// Whether the thread is the one that took it last, and has not given it back.
  virtual bool has(LockId /*lock*/) { return true; }
  /// Takes the lock, or gives it back, with what the protocol has changes do then.
  /// `turn`: the number that the grant must have among the lock's, from 0; nothing: whoever comes first.
  virtual void acquire(LockId lock, std::optional<std::uint64_t> turn) = 0;
  virtual void release(LockId lock) = 0;
  /// The same with a flag, of a doacross loop or of a library's object.
  virtual void post(std::uint64_t flag, FlagPost posted) = 0;
  virtual void wait(std::uint64_t flag, FlagWait wait) = 0;
  /// An atomic operation at the page's home. `orders`: it is a full fence, too. Returns what ComparedWords::operate()
  /// does.
  virtual std::optional<Moment> operate(const WordOperation& operation, ProcessId home, bool orders) = 0;
  /// Waits in a loop of the program's own until so many events of thread `by` have begun.
  virtual void spin(ProcessId by, std::uint64_t events) = 0;

  /// The thread has played all of its `intervals`.
  virtual void end(std::uint64_t intervals) = 0;
  /// What the thread waits for, to report a run that got stuck; may be empty.
  virtual std::string position() const = 0;
};

/// What a protocol keeps for all threads together.
class Room {
 public:
  virtual ~Room() = default;
  virtual std::unique_ptr<Memory> memory_of(Thread& thread) = 0;
};

/// A file for each protocol that can be simulated defines its own.
std::unique_ptr<Room> make_room(Cluster& cluster);

}  // namespace sdsm::sim
