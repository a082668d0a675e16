/// The result document of architecture.md: one form for simulated and measured runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/simulation.hpp"

namespace sdsm::sim {

/// What a result document says about the run besides its outcome.
struct RunDescription {
  std::vector<std::string> program;
  Layout layout;
  std::uint64_t seed = 0;
  NetworkKind network = NetworkKind::queue;
  RunOptions options;
  std::vector<std::filesystem::path> inputs;  ///< hashed as they are on disk
};

inline constexpr int result_format = 1;

/// Throws std::system_error if an input cannot be read.
nlohmann::ordered_json result_document(const RunDescription& description, const Result& result);

}  // namespace sdsm::sim
