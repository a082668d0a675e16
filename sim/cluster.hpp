/// The simulated cluster: what its threads share. Each part of the protocol's course in time has a file of its own:
/// home_service (requests at a home), flush (diffs on their way home), team_barrier, lock_manager, player (one thread).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

#include "models/costs.hpp"
#include "models/first_touch.hpp"
#include "models/node_pages.hpp"
#include "models/openmp.hpp"
#include "models/placement.hpp"
#include "sim/network.hpp"
#include "sim/replayed_order.hpp"
#include "sim/thread.hpp"
#include "workloads/trace/page_figures.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::sim {

/// Choices of one run that are no property of the platform.
struct RunOptions {
  double compute_factor = 1;  ///< target's compute time for each second of the trace's
  double memory_bound = 0;    ///< share of the computing that waits for memory, 0 to 1
  double jitter = 0;  ///< coefficient of variation of a lognormal factor on each processor part of a remote fault
  std::uint64_t seed = 1;
  bool full_page_diffs = false;  ///< every written page's diff is the whole page
  HeapPlacement placement = HeapPlacement::as_asked;
  bool whole_run = false;     ///< measure everything, not the region between the clock calls
  bool page_figures = false;  ///< keep what each page cost each thread
};

class Cluster;

/// Requests at each home: one after another, first come, first served.
class HomeService {
 public:
  explicit HomeService(Cluster& cluster, std::uint32_t processes) : cluster_(cluster), free_at_(processes) {}

  /// A request that costs `home` `duration` of processor time has arrived; `done` is called when it is served. On a
  /// node whose processors are all computing, the time is taken from the home's own thread; a home that computes
  /// answers only after the interrupt delay.
  void serve(ProcessId home, Time duration, std::function<void()> done);

 private:
  Cluster& cluster_;
  std::vector<Time> free_at_;
};

/// One process's diffs on their way home, one piece after another (flushes of one process are serial).
class Flush {
 public:
  Flush(Cluster& cluster, Thread& thread) : cluster_(cluster), thread_(thread) {}

  /// Sends the diffs, then calls `done`. The time is charged to Spent::diff.
  void start(std::vector<Twinned> diffs, std::function<void()> done);

 private:
  void next_piece();

  Cluster& cluster_;
  Thread& thread_;
  std::vector<Twinned> diffs_;
  std::size_t diff_ = 0;
  Bytes rest_;  ///< payload of diffs_[diff_] not yet sent
  Time since_{};
  std::function<void()> done_;
};

/// The five-phase barrier of a team: synchronise, flush, synchronise, invalidate, synchronise.
class TeamBarrier {
 public:
  explicit TeamBarrier(Cluster& cluster) : cluster_(cluster) {}

  enum class Kind : std::uint8_t { inside, fork_master, fork_worker };

  /// The thread has arrived, with `team` threads (0 to team - 1) expected in all; `through` is called when it may go
  /// on. A worker that waits for a fork is idle until the master comes. Precondition: the thread is one of the team.
  void arrive(Thread& thread, std::uint32_t team, Kind kind, std::function<void()> through);

 private:
  struct Member {
    Thread* thread;
    Kind kind;
    Time arrived{};
    Time flushed{};
    std::uint64_t dirty_home_pages = 0;
    std::function<void()> through;
  };
  struct Round {
    std::vector<Member> members;
    std::array<Time, barrier_synchronisations> synchronisations{};
    std::array<Time, barrier_synchronisations> met{};  ///< when all were through each
    std::size_t meetings = 0;                          ///< so far
    std::size_t flushing = 0;                          ///< members
  };
  using RoundPtr = std::shared_ptr<Round>;

  /// Does the phase of that number and those behind it.
  void proceed(const RoundPtr& round, std::size_t phase);
  /// Both call `done` when all members have done theirs.
  void flush(const RoundPtr& round, std::function<void()> done);
  void drop(const RoundPtr& round, std::function<void()> done);
  void leave(const RoundPtr& round);

  Cluster& cluster_;
  /// Rounds that still wait for members, by size of the team: threads may wait for the fork of a later, larger team
  /// while a smaller one is at its barriers.
  std::map<std::uint32_t, RoundPtr> gathering_;
};

/// Locks, each with a FIFO queue at its manager.
class LockManager {
 public:
  explicit LockManager(Cluster& cluster) : cluster_(cluster) {}

  /// Asks for the lock; `granted` is called when the thread holds it. `turn`: which of the lock's grants it has to be,
  /// from 0.
  void request(Thread& thread, LockId lock, std::optional<std::uint64_t> turn, std::function<void()> granted);
  /// Lets the lock go, without a flush.
  void give_back(Thread& thread, LockId lock);
  /// Flushes, asks for the lock, drops copies; `acquired` is called when the thread holds it.
  void acquire(Thread& thread, LockId lock, std::function<void()> acquired);
  /// Flushes, then lets the lock go; `released` is called when the thread may go on.
  void release(Thread& thread, LockId lock, std::function<void()> released);
  /// Flushes and drops copies without a lock.
  void flush(Thread& thread, std::function<void()> flushed);

 private:
  struct Waiter {
    Thread* thread;
    std::function<void()> granted;
    Time since{};
    std::optional<std::uint64_t> turn;
  };
  struct Lock {
    bool held = false;
    std::uint64_t grants = 0;
    std::deque<Waiter> queue;
  };
  void grant_next(LockId lock);
  void grant(LockId lock, Waiter waiter);

  Cluster& cluster_;
  std::unordered_map<std::uint32_t, Lock> locks_;
};

class Cluster {
 public:
  Cluster(Clock& clock, Network& network, const Topology& topology, Layout layout, const CostModel& costs,
          const std::vector<trace::Region>& regions, const RunOptions& options);

  /// Waits inside a request, diff or lock hand-over are driven by timers; only the owner of `thread` blocks.
  Thread& thread(ProcessId process) { return *threads[index_of(process)]; }
  NodePages& pages(NodeId node) { return *node_pages[index_of(node)]; }
  Owner owner_of(ProcessId accessor, ProcessId home) const { return sdsm::owner_of(layout, accessor, home); }
  PageId page_of(AdministrativePage page) const { return {administrative_region, static_cast<std::uint64_t>(page)}; }
  ProcessId home_of_page(PageId page) const {
    return homes[index_of(page.region)].home(page.index, layout.processes());
  }
  /// A processor part of a remote fault, times a lognormal factor of mean 1. The home's processor and the requester's
  /// know nothing of each other: each part is drawn by itself.
  Time jittered(Time part);

  /// Pages on their way to a node of several processes: a companion that wants one waits for it instead of finding it
  /// there before it has come. await_arrival() blocks the thread's actor; its caller charges the time.
  void await_arrival(Thread& thread, PageId page);
  void begin_arrival(NodeId node, PageId page) { arriving_[index_of(node)].push_back({page, {}}); }
  void end_arrival(NodeId node, PageId page);

  /// Adds to the page's figures, if the options want any and the measured region has begun.
  void note(ProcessId process, PageId page, const trace::PageFigures& figures) {
    if (options.page_figures && window.contains(clock.now())) page_book[{page, process}] += figures;
  }

  Clock& clock;
  Network& network;
  const Layout layout;
  const CostModel& costs;
  const RunOptions options;
  Window window;
  std::vector<RegionHomes> homes;
  FirstTouchHomes first_touches;  ///< where homes[] says so
  const RegionId administrative_region;
  std::vector<Processors> processors;  ///< by node
  std::unique_ptr<WriteNotices> notices;
  std::vector<std::unique_ptr<NodePages>> node_pages;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<std::unique_ptr<Flush>> flushes;  ///< by process
  HomeService service;
  TeamBarrier barrier;
  LockManager locks;
  bool extrapolated_barrier = false;
  bool extrapolated_lock = false;
  std::uint64_t remote_faults = 0;
  trace::PageBook page_book;  ///< by the trace's regions
  std::optional<ReplayedOrder> order;

 private:
  struct Arriving {
    PageId page;
    std::vector<Thread*> waiting;
  };
  std::vector<std::vector<Arriving>> arriving_;  ///< by node
  std::mt19937_64 random_;
};

}  // namespace sdsm::sim
