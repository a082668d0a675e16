/// Writes the result of a simulation: the common part (commands/results), and a simulation's own part.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/simulation.hpp"
#include "sim/uncertainty.hpp"
#include "workloads/trace/compute_scale.hpp"
#include "workloads/trace/decided.hpp"

namespace sdsm::sim {

/// Ends between which a program lies whose mixture of arithmetic, caches and memory is not known (--from-host-speed).
struct ComputingRange {
  double least_factor, greatest_factor;
  Time shortest, longest;  ///< makespans of these factors
};

/// What a result document says about the run besides its outcome.
struct RunDescription {
  std::vector<std::string> program;
  Layout layout;
  std::uint64_t seed = 0;
  NetworkKind network = NetworkKind::queue;
  RunOptions options;
  trace::ComputeScale scale;                  ///< the origin of options.compute_factor
  std::vector<std::filesystem::path> inputs;  ///< hashed as they are on disk
  bool has_flags = false;                     ///< the trace has atomic operations, fences or waits for flags
  std::vector<std::string> uncosted;          ///< actions of the program that the times leave out
  std::vector<std::string> privatized = {};   ///< the argument of --privatize
  std::uint64_t reductions = 0;               ///< recognised in the trace
  std::string reductions_as = {};             ///< how they are done: --reductions
  trace::Decided decided = {};                ///< by the tracer's clocks
  bool varies = false;                        ///< from run to run, by noise or jitter
  std::uint64_t draws = 1;                    ///< runs that were simulated, then
  bool is_quiet_machine = false;              ///< --quiet-machine
  trace::Speed traced = {};                   ///< of the machine that traced; 0: not in the trace
  std::optional<ComputingRange> computing = {};
};

/// A property of a run that exceeds the platform's calibration.
struct Beyond {
  std::string what;  ///< nodes, threads_per_node, diff_bytes
  std::uint64_t value;
  std::uint64_t calibrated;
};
/// Returns the properties of the run that exceed the calibration; none if the platform gives no range.
std::vector<Beyond> beyond_calibration(const Platform& platform, Layout layout, const Result& result);

/// Adds the settings of --set and what they changed, if there are any.
void add_changes(nlohmann::ordered_json& document, const Platform& platform);

std::string simgrid_version();

/// Returns the versions of what made a simulated result, besides sdsm itself.
nlohmann::ordered_json versions(NetworkKind network);

/// Writes the document to `file`, or to stdout for "-". `uncertainty`: null if none was asked for. `spread`: of draws
/// of noise and jitter; null if there is one. Throws std::system_error if an input cannot be read, and what
/// commands::write_output() throws.
void write_result(const RunDescription& description, const Platform& platform, const Result& result,
                  const Uncertainty* uncertainty, const Uncertainty* spread, const std::string& file);

}  // namespace sdsm::sim
