/// Plays one thread's trace: an actor that computes, touches pages and synchronises.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/cluster.hpp"
#include "sim/interval_source.hpp"

namespace sdsm::sim {

class Player {
 public:
  /// `clock_calls`: how many clock events the initial thread's trace holds; the first and the last bound the region.
  Player(Cluster& cluster, ProcessId process, std::unique_ptr<IntervalSource> source, std::uint64_t clock_calls);

  /// The actor's body.
  void run();

  bool finished() const { return finished_; }
  std::uint64_t intervals_played() const { return intervals_; }
  /// Where the thread is, for a report of a run that got stuck.
  std::string position() const;

 private:
  void work(const trace::Interval& interval);
  void touch(const trace::TouchRun& run);
  ProcessId first_toucher(PageId page);
  void touch(PageId first, std::uint64_t pages, ProcessId home, Access access, Change change);
  void touch_among_companions(PageId page, ProcessId home, Owner owner, Access access, Change change);
  void finish_fault(PageId page, FaultKind kind, ProcessId home);
  void fault(PageId first, FaultKind kind, std::uint64_t pages, ProcessId home);
  void fetch(FaultKind kind, ProcessId home);
  void issue_fetch();
  void close(const trace::Event& event);
  /// `team`: threads in the team, for directives with a barrier; else 0.
  void perform(Directive directive, std::uint32_t team);
  void acquire(LockId lock);
  void release(LockId lock);
  void note_clock();
  Time scaled(std::uint64_t compute_ns) const;

  // In the order of a real run (player_in_order.cpp).
  void touch_in_order(PageId page, ProcessId home, Owner owner, Access access, Change change);
  void fault_in_turn(PageId page, ProcessId home, Access access);
  bool repeat_fault();
  bool sync_in_interval();
  void begin_interval(const trace::Interval& interval);
  void finish_interval();
  void arrive_in_turn(Spent item);
  void flush_now(Sync sync);
  void flush_in_turn(Sync sync);
  void drop_in_turn();
  void acquire_in_turn(LockId lock);
  void release_in_turn(LockId lock);
  void leave_order();
  void await_turn();
  void await_turn(Spent item);
  const trace::OrderEvent* next_of(trace::OrderKind kind) const;
  [[noreturn]] void misfit(const std::string& what) const;

  Cluster& cluster_;
  Thread& thread_;
  NodePages& pages_;
  std::unique_ptr<IntervalSource> source_;
  std::uint64_t clock_calls_;
  double stretch_;  ///< of computing, by the node's other threads
  std::uint64_t clock_calls_seen_ = 0;
  std::uint64_t intervals_ = 0;
  trace::Event last_event_;
  // For a real run's order.
  const trace::Interval* interval_ = nullptr;  ///< the one that is being played
  std::ptrdiff_t touched_ = 0;                 ///< of its runs, how many have been begun
  PageId touched_page_{};                      ///< the latest of these touches
  std::optional<PageId> administrative_;       ///< the administrative page touched since
  std::uint64_t drops_at_interval_ = 0;        ///< of the node's copies, when it began
  bool executed_single_ = false;
  bool finished_ = false;

  /// Pages [begin, end) of a region that have one home: where the last touch was.
  struct Share {
    RegionId region{};
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    ProcessId home{};
  };
  Share share_;

  /// The fetch under way.
  struct Fetch {
    FaultKind kind{};
    ProcessId home{};
    Time at_home{};  ///< processor time of the home
    Time since{};
  };
  Fetch fetch_;
};

}  // namespace sdsm::sim
