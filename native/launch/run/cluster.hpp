/// One run of a program on a cluster of processes: starts them, introduces them to each other, and watches them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/ids.hpp"
#include "models/jiajia/rules.hpp"
#include "models/page_size.hpp"
#include "models/protocol/registry.hpp"
#include "models/scash/page_state.hpp"
#include "native/launch/run/cluster_process.hpp"
#include "native/launch/run/emulation.hpp"
#include "native/launch/run/hosts.hpp"
#include "native/launch/run/logs/page_logs.hpp"
#include "native/launch/run/logs/timeline_logs.hpp"

namespace sdsm::run_command {

struct ClusterOptions {
  Layout layout;
  ProtocolKind protocol = default_protocol;
  jiajia::Rules jiajia{.scope = jiajia::Scope::openmp};
  Invalidation invalidation = Invalidation::all;
  std::uint32_t prefetch = 0;
  Bytes page = least_page;
  HeapPlacement placement{};
  Atomics atomics{};
  dsm::Transport transport{};
  std::chrono::duration<double> timeout{30};  ///< for each step of the start, and for an answer after it
  std::optional<EmulationRequest> emulation;
  std::optional<HostsOptions> hosts;  ///< none: all processes run on this machine. Needs tcp, and no emulation
  bool is_bound = false;              ///< each process to one of its host's processors, in turn
  bool wants_page_figures = false;
  bool wants_order = false;
  std::optional<std::uint64_t> timeline_events;  ///< a timeline is wanted, of at most so many
};

struct ClusterResult {
  std::vector<dsm::Result> processes;
  std::vector<std::uint32_t> silent;   ///< processes that were in the middle of something: their figures are 0
  int status = 0;                      ///< the program's exit status
  double processes_per_processor = 0;  ///< on the host that has most; 0: they sleep for their computing
  std::optional<PageLogs> logs;        ///< if the options want any
  std::optional<TimelineLogs> timeline;
};

/// Runs the program. input: the standard input of process 0; the others have none. When it returns or throws, no
/// process of the run is left. Throws RunError with the first cause if a process dies, reports a failure or does not
/// answer, or if the command is interrupted; BadInput if the program cannot be executed; std::system_error.
ClusterResult run_cluster(ProgramStart& start, const ClusterOptions& options, int input);

}  // namespace sdsm::run_command
