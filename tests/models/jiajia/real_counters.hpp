/// Counters of real runs of JIAJIA, and what a played cluster says to them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/models/jiajia/played_cluster.hpp"

namespace sdsm::test {

/// A file of this folder.
nlohmann::json real(const std::string& file);

/// The options of a real run, with all quirks.
jiajia::Rules rules_of(const nlohmann::json& run);

std::vector<std::uint64_t> by_process(const PlayedCluster& cluster, const std::string& name);

/// What was compared of a number of real runs.
struct Comparison {
  std::size_t counters = 0, exact = 0;
  std::set<std::string> others;  ///< counters that do not agree, as "PROGRAM ARGUMENTS on PROCESSES OPTIONS NAME"

  /// A run that was played with requests before and after the homes' intervals end. Where real runs agree, one order of
  /// requests gives every process's counter. Where they differ, the sum of one order lies in their range, widened by
  /// its own width to both sides; or the range of both orders, process by process, contains the real ones.
  void add(const nlohmann::json& run, const PlayedCluster& before, const PlayedCluster& after);
};

}  // namespace sdsm::test
