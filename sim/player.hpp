/// Plays one thread's trace: an actor computes, touches pages and synchronises.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster.hpp"
#include "sim/held_locks.hpp"
#include "sim/interval_source.hpp"
#include "sim/memory.hpp"
#include "workloads/trace/reductions.hpp"

namespace sdsm::sim {

class Player {
 public:
  /// `clock_calls` counts the readings of clocks of `clock_rank` in the initial thread's trace; the first and the last
  /// bound the region. `reductions` are the thread's parts of reductions that run as Omni runs them.
  Player(Cluster& cluster, ProcessId process, std::unique_ptr<IntervalSource> source, unsigned clock_rank,
         std::uint64_t clock_calls, std::vector<trace::ReductionPart> reductions);

  /// The actor's body.
  void run();

  bool finished() const { return finished_; }
  std::string position() const;

 private:
  void work(const trace::Interval& interval);
  /// Tells the account by construct where the thread is.
  void come_to(const trace::Interval& interval);
  void pass(const trace::Interval& interval);
  void touch(const trace::TouchRun& run);
  void acquire(LockId lock, const Event& event);
  void release(LockId lock, const Event& event);
  /// Releases the thread's locks after another thread has ended the program, as their next holders may come later.
  void give_locks_back();
  std::optional<std::uint64_t> turn_of(const Event& acquire);
  void close(const Event& event);
  /// `team` is the number of threads for directives with a barrier; else 0.
  void perform(Directive directive, std::uint32_t team);
  /// Plays the operation that ended the interval, which may be a part of a reduction.
  void operate_or_reduce(const Event& event);
  void operate(PageId page, const Event& event);
  /// Returns the result of ComparedWords::operate().
  std::optional<Moment> operate_at_home(const WordOperation& operation, ProcessId home);
  void count_atomic();
  void fence();
  void spin(ProcessId by, std::uint64_t events);
  ProcessId home_of(PageId page);
  void note_clock(const Event& event);
  Time scaled(std::uint64_t compute_ns) const;
  void spend(Time computing);

  Cluster& cluster_;
  Thread& thread_;
  std::unique_ptr<IntervalSource> source_;
  std::unique_ptr<Memory> memory_;
  HeldLocks locks_;
  std::vector<LockId> sections_;  ///< held locks that no program may try to take
  unsigned clock_rank_;
  std::uint64_t clock_calls_;
  std::vector<trace::ReductionPart> reductions_;
  std::size_t next_reduction_ = 0;
  Atomics atomics_;
  ConstructAccount* constructs_;  ///< the thread's; null if not asked for
  bool has_faults_;
  double stretch_;  ///< factor on computing time beside the node's other threads
  std::uint64_t clock_calls_seen_ = 0;
  std::uint64_t intervals_ = 0;
  Event last_event_;
  bool executed_single_ = false;
  bool finished_ = false;

  /// Pages [begin, end) around the last touch, which share a home.
  struct Share {
    RegionId region{};
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    ProcessId home{};
  };
  Share share_;
};

}  // namespace sdsm::sim
