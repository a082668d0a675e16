#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace sdsm::commands {

/// How far a command is, on stderr: on a terminal in one line that changes, elsewhere only in lines that stay.
class Progress {
 public:
  explicit Progress(bool is_quiet);

  /// A bar for the share that is done, 0 to 1; elsewhere a line every half a minute.
  void show_part(double done);
  /// How far a step is, in words: in the line that changes, elsewhere a line every half a minute.
  void show(std::string_view text);
  /// Begins a step, whose line end() completes.
  void begin(std::string_view step);
  /// Ends the line that changes: with `text` for a line that stays, or without a trace.
  void end(std::string_view text = {});

 private:
  bool is_quiet_;
  bool is_terminal_;
  int percent_ = -1;
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
};

}  // namespace sdsm::commands
