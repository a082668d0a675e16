#include "commands/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "commands/standard_streams.hpp"

namespace sdsm::commands {

Progress::Progress(bool is_quiet) : is_quiet_(is_quiet), is_terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show_part(double done) {
  const int percent = static_cast<int>(std::floor(done * 100));
  if (is_quiet_ || percent == percent_) return;
  if (!is_terminal_) return show(fmt::format("{} % done", percent));
  percent_ = percent;
  tell(fmt::format("\r[{:<40}] {:3d} %", std::string(static_cast<std::size_t>(percent * 2 / 5), '#'), percent));
}

void Progress::show(std::string_view text) {
  const auto now = std::chrono::steady_clock::now();
  const auto pause = is_terminal_ ? std::chrono::milliseconds(500) : std::chrono::seconds(30);
  if (is_quiet_ || now - shown_ < pause) return;
  shown_ = now;
  if (is_terminal_) return tell(fmt::format("\r{:<78}", text));
  say(text);
}

void Progress::begin(std::string_view step) {
  shown_ = std::chrono::steady_clock::now();
  if (!is_quiet_) tell(fmt::format("sdsm: {} ...{}", step, is_terminal_ ? "" : "\n"));
}

void Progress::end(std::string_view text) {
  if (is_quiet_) return;
  if (is_terminal_) tell(fmt::format("\r{:<78}\r", ""));
  if (!text.empty()) say(text);
}

}  // namespace sdsm::commands
