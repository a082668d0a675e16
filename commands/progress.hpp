#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace sdsm::commands {

/// Shows a command's progress on stderr: on a terminal in one line that changes, elsewhere only in lines that stay.
class Progress {
 public:
  explicit Progress(bool is_quiet);

  /// Shows a bar for the finished share, 0 to 1; elsewhere a line every half a minute.
  void show_part(double done);
  /// Shows a step's progress in words: in the line that changes, elsewhere a line every half a minute.
  void show(std::string_view text);
  /// Begins a step; end() completes its line.
  void begin(std::string_view step);
  /// Ends the line that changes: replaces it by `text`, or removes it.
  void end(std::string_view text = {});

 private:
  bool is_quiet_;
  bool is_terminal_;
  int percent_ = -1;
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
};

}  // namespace sdsm::commands
