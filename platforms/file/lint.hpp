/// Finds mistakes in a platform file that SimGrid lets pass, or that make it end the program.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>
#include <vector>

namespace sdsm::platform_file {

class Lint {
 public:
  /// What is wrong with an element: a link or host given twice, a host without a processor, numbers that no machine
  /// has, an unknown routing. `line`: the element's, from 1. To be called once for each element.
  std::vector<std::string> problems_of(pugi::xml_node element, std::size_t line);

 private:
  std::map<std::string, std::size_t> machines_;  ///< lines of hosts and links, by "host 'id'"
};

}  // namespace sdsm::platform_file
