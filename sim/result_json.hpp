/// The result of a simulation: what all results share (commands/results), and what only a simulation tells.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/simulation.hpp"
#include "sim/uncertainty.hpp"
#include "workloads/trace/compute_scale.hpp"

namespace sdsm::sim {

/// What a result document says about the run besides its outcome.
struct RunDescription {
  std::vector<std::string> program;
  Layout layout;
  std::uint64_t seed = 0;
  NetworkKind network = NetworkKind::queue;
  RunOptions options;
  trace::ComputeScale scale;                  ///< that options.compute_factor was made of
  std::vector<std::filesystem::path> inputs;  ///< hashed as they are on disk
  bool has_flags = false;                     ///< the trace has atomic operations, fences or waits for flags
  std::vector<std::string> uncosted;          ///< what the program did that the times leave out
  std::vector<std::string> privatized = {};   ///< what --privatize named
  std::uint64_t reductions = 0;               ///< recognised in the trace
  std::string reductions_as = {};             ///< how they are done: --reductions
  std::uint64_t traced_flops = 0;             ///< of the machine that traced; 0: the trace does not keep it
};

/// A property of a run that exceeds what was measured to calibrate its platform.
struct Beyond {
  std::string what;  ///< nodes, threads_per_node, diff_bytes
  std::uint64_t value;
  std::uint64_t calibrated;
};
/// The properties of the run that exceed the calibration; none if the platform gives no range.
std::vector<Beyond> beyond_calibration(const Platform& platform, Layout layout, const Result& result);

/// What --set gave, and what it changed; nothing if it was not given.
void add_changes(nlohmann::ordered_json& document, const Platform& platform);

std::string simgrid_version();

/// Versions of what made a simulated result, besides sdsm itself.
nlohmann::ordered_json versions(NetworkKind network);

/// Writes the document to `file`, or to stdout for "-". `uncertainty`: null if none was asked for. Throws
/// std::system_error if an input cannot be read, and what commands::write_output() throws.
void write_result(const RunDescription& description, const Platform& platform, const Result& result,
                  const Uncertainty* uncertainty, const std::string& file);

}  // namespace sdsm::sim
