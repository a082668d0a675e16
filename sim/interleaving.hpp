/// How the threads of a node interleave in what they share: which of a thread's touches trap, and when it does what
/// its companions see.
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
  const trace::TouchRun* run;  ///< of the interval's; null for a page that the OpenMP run-time keeps
};

/// One thread's. Whatever blocks, blocks the thread's actor.
class Interleaving {
 public:
  virtual ~Interleaving() = default;

  /// An interval of the trace begins; `before`: how many the thread has played. Valid until finish_interval().
  virtual void begin(const trace::Interval& interval, std::uint64_t before) = 0;
  virtual void touch(const Touch& touch) = 0;
  /// Its touches and its computing are over; the event at its end comes.
  virtual void finish_interval() = 0;

  /// Before the thread arrives at a barrier; `item`: what a wait is charged to.
  virtual void arrive(Spent item) = 0;
  /// Lets go what the thread changed, takes the lock, drops copies.
  virtual void acquire(LockId lock) = 0;
  virtual void release(LockId lock) = 0;

  /// The thread has played all of its `intervals`.
  virtual void end(std::uint64_t intervals) = 0;
  /// What it waits for, for a report of a run that got stuck; empty if it has nothing to say.
  virtual std::string position() const = 0;

 protected:
  Interleaving(Cluster& cluster, Thread& thread)
      : cluster_(cluster), thread_(thread), pages_(cluster.pages(thread.node())), faults_(cluster, thread) {}

  Cluster& cluster_;
  Thread& thread_;
  NodePages& pages_;
  PageFaults faults_;
};

/// In simulated time, whoever comes first comes first.
std::unique_ptr<Interleaving> interleaving_in_time(Cluster& cluster, Thread& thread);

/// As in the cluster's recorded order: what of the touches trapped, and when among its companions', is the order's say;
/// what the trap was, the protocol's. Its functions throw std::invalid_argument where the order does not fit the trace.
std::unique_ptr<Interleaving> interleaving_as_recorded(Cluster& cluster, Thread& thread);

}  // namespace sdsm::sim
