/// Plays a program's intervals on a platform. SimGrid allows one engine per process, so simulate() is called once.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands/errors.hpp"
#include "platforms/file/platform.hpp"
#include "sim/cluster.hpp"
#include "sim/interval_source.hpp"
#include "sim/network_table.hpp"
#include "workloads/trace/reductions.hpp"

namespace sdsm::sim {

/// A deadlock or a broken invariant; the text says where each thread was.
using commands::RunError;

/// A program to simulate, with one source per thread.
struct Program {
  std::vector<trace::Region> regions;
  std::vector<std::unique_ptr<IntervalSource>> sources;
  unsigned clock_rank = rank_of(ClockSource::omp_get_wtime);  ///< rank of the clocks that bound the region
  std::uint64_t clock_calls = 0;                              ///< the initial thread's calls of those clocks
  std::uint64_t intervals = 0;  ///< intervals of the initial thread, for progress; 0 if unknown
  bool has_spins = false;
  /// The thread that ends the program inside a parallel region; the others' work ends with it.
  std::optional<ProcessId> ended_by{};
  bool has_operations = true;                                 ///< atomic operations or fences
  std::vector<std::vector<trace::ReductionPart>> reductions;  ///< by thread, those that run as Omni runs them; may be
                                                              ///< empty
  std::optional<trace::Order> order;                          ///< the order of a real run to repeat
};

struct ThreadResult {
  ProcessId id{};
  NodeId node{};
  Tally region;
  Tally whole;
};

struct Result {
  Time makespan{};        ///< of the measured region
  Time whole_makespan{};  ///< from start to the last thread's end
  std::vector<ThreadResult> threads;
  /// By thread, if the options ask for it: they sum to its `region`.
  std::vector<std::vector<ConstructTally>> constructs;
  /// Extrapolated costs: "barrier", "lock" (the platform has other layouts), "memory-bus" (other numbers of threads).
  std::vector<std::string> extrapolated;
  bool has_unknown_turns = false;  ///< ordered regions of an older trace ran in order of arrival
  std::uint64_t remote_faults = 0;
  trace::PageCounts pages;   ///< in the measured region, if the options ask for it; regions have the trace's numbers
  trace::Readings readings;  ///< in the whole run, if the options ask for them
  Window window;             ///< the measured region
  Baselines baselines;
  std::vector<std::string> links;  ///< names, by the timeline's numbers
};

/// Throws TooSmall if the platform has too few hosts or cores for the layout, and as offers() does.
void require_room(const Platform& platform, Layout layout);

/// Returns whether the platform has hosts and cores enough for the layout. Throws std::invalid_argument if a route is
/// missing. Creates the process's one engine.
bool offers(const Platform& platform, Layout layout);

/// How many hosts a platform has, and between how many of them the routes were tried.
struct CheckedHosts {
  std::size_t all = 0;
  std::size_t tried = 0;
};

/// Returns every problem that SimGrid or the simulator has with the platform, with either network; empty if there is
/// none. Creates the process's one engine.
std::vector<std::string> check_platform(const Platform& platform, CheckedHosts& hosts);

/// Throws std::invalid_argument if `burst` messages of each payload could exceed a run's longest duration on the route.
void check_duration(const std::vector<LinkSpec>& route, const Framing& framing, const std::vector<Bytes>& payloads,
                    std::uint32_t burst);

/// Times messages from node 1 to node 0 on an idle network, without the processors' parts: for each payload, from
/// sending `burst` of them at once until the last arrives. Creates the process's one engine. Throws
/// std::invalid_argument if the platform has less than two nodes, and as check_duration().
std::vector<Time> time_messages(const Platform& platform, NetworkKind network, const std::vector<Bytes>& payloads,
                                std::uint32_t burst = 1);

/// Receives from time to time the finished share of the run, 0..1.
using Progress = std::function<void(double)>;

/// Plays the program on the platform. Throws std::invalid_argument if the layout does not fit the platform, or it lacks
/// memory-bound computing's cost there; PlatformError if costs contradict each other; RunError; and what sources throw.
Result simulate(const Platform& platform, Layout layout, NetworkKind network, Program program,
                const RunOptions& options, const Progress& progress = {});

}  // namespace sdsm::sim
