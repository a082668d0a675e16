/// Finds mistakes in a platform file that SimGrid lets pass, or that make it end the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sdsm::platform_file {

/// A link's or host's quantity as SimGrid reads it: in bytes per second, seconds, or operations per second.
/// `attribute`: bandwidth, latency or speed. Empty where SimGrid would refuse it, and says so itself.
std::optional<double> simgrid_quantity(const std::string& text, std::string_view attribute);

class Lint {
 public:
  /// What is wrong with an element: a link or host given twice, a host without a processor, numbers that no machine
  /// has, an unknown routing, more than the limits of platform.hpp. `line`: the element's, from 1. To be called once
  /// for each element.
  std::vector<std::string> problems_of(pugi::xml_node element, std::size_t line);

 private:
  std::vector<std::string> too_many(pugi::xml_node element);

  std::uint64_t hosts_ = 0;
  std::map<std::string, std::size_t> machines_;  ///< lines of hosts and links, by "host 'id'"
};

}  // namespace sdsm::platform_file
