/// How the threads of a node interleave: which of a thread's touches trap, and when it does what its companions see.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/cluster.hpp"
#include "sim/page_faults.hpp"

namespace sdsm::sim {

/// Pages of one home that a thread touches one after another.
struct Touch {
  PageId first;
  std::uint64_t pages;
  ProcessId home;
  Access access;
  Change change;
  const trace::TouchRun* run;  ///< the interval's run; null for an administrative page
};

/// One thread's interleaving. Its functions may block the thread's actor.
class Interleaving {
 public:
  virtual ~Interleaving() = default;

  /// An interval of the trace begins, after `before` others of the thread. It stays valid until finish_interval().
  virtual void begin(const trace::Interval& interval, std::uint64_t before) = 0;
  virtual void touch(const Touch& touch) = 0;
  /// The interval's touches and computing are over; its event comes next.
  virtual void finish_interval() = 0;

  /// The thread is about to arrive at a barrier. `item`: what a wait is charged to.
  virtual void arrive(Spent item) = 0;
  /// Flushes what the thread changed, takes the lock, drops copies.
  virtual void acquire(LockId lock) = 0;
  virtual void release(LockId lock) = 0;
  /// The same with a flag, of a doacross loop or of a library's object.
  virtual void post(std::uint64_t flag, Count count) = 0;
  virtual void wait(std::uint64_t flag, FlagWait wait) = 0;

  /// The thread has played all of its `intervals`.
  virtual void end(std::uint64_t intervals) = 0;
  /// What the thread waits for, to report a run that got stuck; may be empty.
  virtual std::string position() const = 0;

 protected:
  Interleaving(Cluster& cluster, Thread& thread)
      : cluster_(cluster), thread_(thread), pages_(cluster.pages(thread.node())), faults_(cluster, thread) {}

  Cluster& cluster_;
  Thread& thread_;
  NodePages& pages_;
  PageFaults faults_;
};

/// Threads act in the order of simulated time.
std::unique_ptr<Interleaving> interleaving_in_time(Cluster& cluster, Thread& thread);

/// Threads act in the cluster's recorded order. The order says which touches trapped, and when among the companions';
/// the protocol says what kind each trap was. Functions throw std::invalid_argument where order and trace do not fit.
std::unique_ptr<Interleaving> interleaving_as_recorded(Cluster& cluster, Thread& thread);

}  // namespace sdsm::sim
