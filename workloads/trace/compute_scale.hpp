/// A trace's compute time on another machine: by a factor, or so that its sum is given (docs/user-guide.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/units.hpp"

#include "workloads/trace/reader.hpp"

namespace sdsm::commands {
class CommandLine;
}

namespace sdsm::trace {

/// How the user describes the target machine's speed.
struct ComputeScale {
  std::string sequential_time;   ///< the program's one-thread time there, with a unit; empty: not given
  std::string sequential_trace;  ///< trace of one thread whose compute stands for that time; empty: the trace itself
  std::optional<double> factor;  ///< target's compute time for each second of the trace's; 1 unless given
  bool from_host_speed = false;  ///< by the speeds of the machine that traced and of the platform's hosts
  Speed host{};                  ///< of these, once somebody has read it; all but `flops` may be unknown

  bool is_given() const { return factor || from_host_speed || !sequential_time.empty(); }
  /// What says how fast the target is: trace, compute-factor, sequential-time, sequential-trace, host-speed.
  std::string_view origin() const;
  /// Precondition: a time is given. Throws std::invalid_argument if it is not above zero.
  Time sequential() const;
};

/// --sequential-time, --sequential-trace and --compute-factor, for check_scale() to check.
void add_options(commands::CommandLine& app, ComputeScale& scale);

/// --from-host-speed, for commands that then read the hosts' speed.
void add_host_speed(commands::CommandLine& app, ComputeScale& scale);

/// Compute time in a trace's measured region, summed over threads; of the `whole` run on demand or without a region.
struct TraceSurvey {
  unsigned clock_rank = 0;        ///< of the clocks that bound the region (rank_of)
  std::uint64_t clock_calls = 0;  ///< readings of those by the initial thread
  std::uint64_t region_compute_ns = 0;
};

/// Reads the trace's threads. Throws as their cursors do.
TraceSurvey survey(const File& file, bool whole);

/// Throws std::invalid_argument if the factor is not possible, or options contradict each other. Reads no file.
void check_scale(const ComputeScale& scale);

/// The target's compute time for each second of the trace's. Throws std::invalid_argument if the scale makes no sense
/// or the trace lacks a speed that it needs, FormatError or std::system_error if the sequential trace cannot be read.
/// Precondition: scale.host.flops is above zero if computing is scaled by it.
double compute_factor(const ComputeScale& scale, const File& file, const TraceSurvey& own, bool whole);

/// With --from-host-speed: the factor of a program that each of the three loops binds (native/launch/trace/
/// machine_speed.hpp); the last two are 0 if host or trace do not tell. A program's own lies between the least and the
/// greatest, which is more by what the traced machine's measurements differed by, if that makes them doubtful.
struct FactorRange {
  double arithmetic = 0, cache = 0, memory = 0;
  double least = 0, greatest = 0;

  bool is_known() const { return cache > 0; }
  /// Whether the ends are far enough apart to be simulated both.
  bool is_wide() const { return greatest > 1.02 * least; }
  /// The geometric mean of both ends.
  double middle() const;
};
/// Throws std::invalid_argument if the trace keeps no speed.
FactorRange factor_range(const ComputeScale& scale, const File& file);

}  // namespace sdsm::trace
