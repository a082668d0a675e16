#pragma once

#include <string>
#include <string_view>

namespace sdsm::run_command {

/// A process's text, shortened and without control characters, for one line on a terminal.
inline std::string one_line(std::string_view text) {
  constexpr std::size_t most = 1000;
  std::string line(text.substr(0, most));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\0')) line.pop_back();
  for (char& sign : line) {
    if (static_cast<unsigned char>(sign) < ' ' || sign == 127) sign = ' ';
  }
  return line;
}

}  // namespace sdsm::run_command
