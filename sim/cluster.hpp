/// The simulated cluster: state that its threads share. Timers drive requests, diffs and hand-overs of locks; only a
/// thread's own actor ever blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "models/compared_words.hpp"
#include "models/costs.hpp"
#include "models/first_touch.hpp"
#include "models/jiajia/rules.hpp"
#include "models/program/placement.hpp"
#include "models/protocol/registry.hpp"
#include "models/protocol/tables.hpp"
#include "models/scash/directives.hpp"
#include "models/scash/node_pages.hpp"
#include "sim/atomic_operations.hpp"
#include "sim/baselines.hpp"
#include "sim/first_uses.hpp"
#include "sim/flush.hpp"
#include "sim/home_service.hpp"
#include "sim/lock_manager.hpp"
#include "sim/memory.hpp"
#include "sim/network.hpp"
#include "sim/noise.hpp"
#include "sim/page_rights.hpp"
#include "sim/replayed_order.hpp"
#include "sim/spins.hpp"
#include "sim/team_barrier.hpp"
#include "sim/thread.hpp"
#include "workloads/trace/page_figures.hpp"
#include "workloads/trace/readings.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::sim {

/// Options of one run, beside the platform.
struct RunOptions {
  double compute_factor = 1;  ///< seconds on the target for each second of the trace
  double memory_bound = 0;    ///< share of the computing time that waits for memory, 0 to 1
  bool is_noisy = false;      ///< simulate the platform's system noise
  double jitter = 0;  ///< coefficient of variation of a lognormal factor on each processor part of a remote fault
  std::uint64_t seed = 1;
  Noise::Draw draw{};            ///< one of several with this seed
  std::optional<Bytes> page{};   ///< empty: the page size at which the platform's costs were measured
  bool full_page_diffs = false;  ///< count the whole page as the diff of each written page
  ProtocolKind protocol = default_protocol;
  jiajia::Rules jiajia{.scope = jiajia::Scope::openmp};
  std::vector<RegionId> privatized{};  ///< under JIAJIA: a fork sends the pages of these regions to all processes
  Bytes privatized_pages{};            ///< size of the used ones
  std::uint32_t prefetch = 0;          ///< largest number of further pages that a fetch brings
  HeapPlacement placement = HeapPlacement::as_asked;
  bool whole_run = false;                         ///< measure everything, not only the region between the clock calls
  bool page_figures = false;                      ///< keep each page's costs for each thread
  bool constructs = false;                        ///< keep accounts by construct
  ConstructAccount::SinglesOfBarriers singles{};  ///< for these
  bool readings = false;                          ///< keep each value that the program's clock returns
  std::optional<Atomics> atomics{};               ///< empty: as the platform says
  timelines::Timeline* timeline = nullptr;        ///< shows the run
};

/// A message of the protocol between processes. Uncounted kinds have no `kind`.
struct Outgoing {
  ProcessId from{};
  ProcessId to{};
  std::optional<std::size_t> kind;
  Bytes payload;
};

class Cluster {
 public:
  Cluster(Clock& clock, Network& network, const Topology& topology, Layout layout, const CostModel& costs,
          const std::vector<trace::Region>& regions, const RunOptions& options);

  Thread& thread(ProcessId process) { return *threads[index_of(process)]; }
  NodePages& pages(NodeId node) { return *node_pages[index_of(node)]; }
  Owner owner_of(ProcessId accessor, ProcessId home) const { return sdsm::owner_of(layout, accessor, home); }
  PageId page_of(AdministrativePage page) const { return {administrative_region, static_cast<std::uint64_t>(page)}; }
  ProcessId home_of_page(PageId page) const {
    return homes[index_of(page.region)].home(page.index, layout.processes());
  }
  /// Whether the node's first use of the page allocates its memory, which costs time.
  bool gets_memory(NodeId node, PageId page) { return first_uses.use(node, page) && !has_from_start(node, page); }
  /// Returns the home of a page that is placed by first touch. Simulated time decides which thread is first, so this
  /// blocks the thread's actor until simulated time has reached the thread's.
  ProcessId first_toucher(Thread& thread, PageId page);
  /// Multiplies a processor part of a remote fault by a lognormal factor of mean 1. Each part has its own draw, as the
  /// home's and the requester's processors are independent.
  Time jittered(Time part);
  /// Returns how long work of the process's processor takes from now on, with the system's noise.
  Time noisy(ProcessId process, Time work) { return noise.stretched(process, clock.now(), work); }

  /// Tracks pages that are on their way to a node of several processes. Another process of the node that needs one
  /// waits until it arrives. await_arrival() blocks the thread's actor; its caller charges the time.
  void await_arrival(Thread& thread, PageId page);
  void begin_arrival(NodeId node, PageId page);
  void end_arrival(NodeId node, PageId page);
  bool is_arriving(NodeId node, PageId page) const;

  /// Error of each computing time in a trace: 1 us, scaled as the times are, because the tracer subtracts its trap's
  /// cost as measured elsewhere. The measured error is up to 0.7 us on a busy machine.
  Time trace_resolution() const { return from_seconds(1e-6 * options.compute_factor); }

  /// Sends the message from node to node, as Network::send() does, and shows it. Where messages are acknowledged, it
  /// waits behind its sender's earlier ones.
  void send(const Outgoing& message, std::function<void()> arrived);

  /// Records that the thread takes a fault of this kind on each of the pages, at its own time.
  void note_faults(const Thread& thread, std::size_t kind, PageId first, std::uint64_t pages) {
    if (options.timeline != nullptr || options.page_figures) show_faults(thread, kind, first, pages);
  }
  /// Adds to the page's figures if the options ask for them and the measured region has begun.
  void note(ProcessId process, PageId page, const trace::PageFigures& figures);

  Clock& clock;
  Network& network;
  const Layout layout;
  const CostModel& costs;
  const RunOptions options;
  const Tables& tables;  ///< the protocol's
  const Bytes page_size;
  const std::uint16_t page_words;
  Window window;
  std::vector<RegionHomes> homes;
  std::vector<bool> has_prefetch;           ///< by region
  std::vector<RegionId> unnoticed_regions;  ///< their homes write them without a fault
  FirstTouchHomes first_touches;            ///< of regions whose homes[] say first_touch
  const RegionId administrative_region;
  std::vector<Processors> processors;  ///< by node
  std::unique_ptr<WriteNotices> notices;
  std::vector<std::unique_ptr<NodePages>> node_pages;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<std::unique_ptr<Flush>> flushes;  ///< by process
  Noise noise;
  HomeService service;
  FirstUses first_uses;   ///< of pages
  FirstUses first_twins;  ///< of twins
  TeamBarrier barrier;
  LockManager locks;
  AtomicOperations atomics;
  bool extrapolated_barrier = false;
  bool extrapolated_lock = false;
  std::optional<ProcessId> ended_by;  ///< Program::ended_by
  bool has_ended = false;             ///< thread `ended_by` has ended the program
  bool has_unknown_turns = false;     ///< an ordered region of an older trace ran in order of arrival
  bool extrapolated_atomic = false;
  /// A fence or an atomic operation at a home has occurred: changes then go home before a thread waits at a barrier.
  bool has_flags = false;
  std::uint64_t remote_faults = 0;
  ComparedWords compared;
  std::optional<PageRights> rights;
  trace::PageCounts page_counts;  ///< by the trace's regions
  trace::Readings readings;
  std::optional<ReplayedOrder> order;
  std::optional<Spins> spins;  ///< present if the trace has spins
  std::unique_ptr<Room> room;
  std::unique_ptr<IdleNetwork> idle;
  BaselineWindow baselines;
  /// Returns the present value of each thread.
  std::vector<Uncontended> uncontended() const;

  /// Ends the program for all threads. The actor of the thread that ends it calls this.
  void end_program();

 private:
  /// How a region's variables come into memory. Process 0 has the program's variables in its memory before main begins,
  /// zeros as well, and sends those that the program places elsewhere.
  enum class Variables : std::uint8_t { none, at_start, placed };
  bool has_from_start(NodeId node, PageId page) const;
  void show_faults(const Thread& thread, std::size_t kind, PageId first, std::uint64_t pages);
  void send_in_turn(const Outgoing& message, std::function<void()> arrived);
  void send_now(const Outgoing& message, std::function<void()>&& arrived);
  void send_first_of(ProcessId process);

  struct Arriving {
    PageId page;
    std::vector<Thread*> waiting;
  };
  std::vector<Variables> variables_;                                                    ///< by region
  std::vector<std::vector<Arriving>> arriving_;                                         ///< by node
  std::vector<std::deque<std::pair<Outgoing, std::function<void()>>>> unacknowledged_;  ///< by sender
  std::mt19937_64 random_;
};

}  // namespace sdsm::sim
