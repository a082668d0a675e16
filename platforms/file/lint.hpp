/// Finds mistakes in a platform file that SimGrid accepts, or that crash it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sdsm::platform_file {

/// Reads a link's or host's quantity as SimGrid does: in bytes per second, seconds, or operations per second.
/// `attribute` is bandwidth, latency or speed. Empty if SimGrid would refuse it; SimGrid then reports it.
std::optional<double> simgrid_quantity(const std::string& text, std::string_view attribute);

class Lint {
 public:
  explicit Lint(pugi::xml_node platform);

  /// What is wrong with an element: a link or host given twice, a host without a processor, numbers of no machine, an
  /// unknown routing, a medium or a setting that is not simulated, changes by time, more than the limits of
  /// platform.hpp. Call it once for each. `line`: the element's, from 1.
  std::vector<std::string> problems_of(pugi::xml_node element, std::size_t line);

 private:
  std::vector<std::string> too_many(pugi::xml_node element);

  std::uint64_t hosts_ = 0;
  std::set<std::string> loopbacks_;              ///< links on routes from a host to itself alone
  std::map<std::string, std::size_t> machines_;  ///< lines of hosts and links, by "host 'id'"
};

}  // namespace sdsm::platform_file
