/// Makes platform files: a switch with a cable to each node, and the costs of the Pentium III cluster unless changed.
#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "models/units.hpp"
#include "tests/scratch.hpp"

namespace sdsm::test {

/// Microseconds with up to six digits after the point, exactly.
inline Time us(double microseconds) {
  return Time{std::llround(microseconds * 1e6)};
}

inline double in_us(Time time) {
  return static_cast<double>(time.count()) * 1e-6;
}

/// The project's platform of the Pentium III cluster.
std::filesystem::path p3_score();

struct PlatformText {
  /// With these properties in place of the cluster's own, or beside them.
  PlatformText(std::initializer_list<std::pair<std::string, std::string>> changed = {});

  std::map<std::string, std::string> properties;  ///< by id; those of p3-score.xml
  unsigned hosts = 4;
  unsigned cores = 2;
  std::string bandwidth = "100Mbps";
  std::string latency = "5us";
  std::string speed = "1Gf";
  std::map<unsigned, std::string> other_bandwidth;  ///< of single cables

  void set(const std::string& id, const std::string& value) { properties.insert_or_assign(id, value); }

  /// The file's text. Its routes are those of a star: cable up, cable down.
  std::string text() const;
};

/// The platform with other cables and nothing else changed.
std::string with_cables(const std::string& bandwidth);

}  // namespace sdsm::test
