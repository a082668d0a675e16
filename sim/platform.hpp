/// The project's view of a platform file: the costs in its <prop>s, with the line of each. Topology (hosts, links,
/// routes) is SimGrid's business; sim/topology.hpp reads it from the loaded engine.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/costs.hpp"

namespace sdsm::sim {

/// A platform file that cannot be used. Each finding is "file:line: problem (why) what to do".
class PlatformError : public std::runtime_error {
 public:
  explicit PlatformError(std::vector<std::string> findings);
  const std::vector<std::string>& findings() const { return findings_; }

 private:
  std::vector<std::string> findings_;
};

/// Of the layouts that properties name.
inline constexpr std::uint32_t most_nodes = 65536;
inline constexpr std::uint32_t most_threads_per_node = 4096;

struct Platform {
  std::filesystem::path path;
  Costs costs;
  std::vector<std::string> properties;  ///< ids of the properties given, in the order of the file
};

/// Reads the properties. Throws PlatformError with everything that is wrong with them: not XML, an unknown or repeated
/// property, a value that is no quantity, a required property that is missing.
Platform read_platform(const std::filesystem::path& path);

/// One line for each property: its id, its meaning, and whether it is required. For `sdsm check --properties`.
std::string describe_properties();

}  // namespace sdsm::sim
