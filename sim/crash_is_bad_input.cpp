#include "sim/crash_is_bad_input.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "commands/errors.hpp"
#include "commands/standard_streams.hpp"

namespace sdsm::sim {
namespace {

/// Returns SimGrid's first line without its head, as in "[0.000000] FILE:69: [root/CRITICAL] There are ...".
std::string_view reason_in(std::string_view printed) {
  constexpr std::string_view head = "CRITICAL] ";
  if (const auto begin = printed.find(head); begin != std::string_view::npos)
    printed.remove_prefix(begin + head.size());
  printed = printed.substr(0, printed.find('\n'));
  if (printed.ends_with('.')) printed.remove_suffix(1);  // the reason becomes part of a sentence
  return printed;
}

}  // namespace

CrashIsBadInput* CrashIsBadInput::current_ = nullptr;

CrashIsBadInput::CrashIsBadInput(const std::filesystem::path& platform) : name_(platform.string()) {
  kept_ = memfd_create("sdsm-simgrid-errors", MFD_CLOEXEC);
  if (kept_ >= 0) errors_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (errors_ >= 0) dup2(kept_, STDERR_FILENO);
  current_ = this;
  abort_before_ = std::signal(SIGABRT, &report);
  fault_before_ = std::signal(SIGSEGV, &report);
}

CrashIsBadInput::~CrashIsBadInput() {
  std::signal(SIGABRT, abort_before_);
  std::signal(SIGSEGV, fault_before_);
  current_ = nullptr;
  if (errors_ >= 0) {
    dup2(errors_, STDERR_FILENO);
    close(errors_);
    std::array<char, 4096> text;
    off_t at = 0;
    for (ssize_t count; (count = pread(kept_, text.data(), text.size(), at)) > 0; at += count)
      commands::tell({text.data(), static_cast<std::size_t>(count)});
  }
  if (kept_ >= 0) close(kept_);
}

/// Allocates nothing, as the heap's own functions may have failed.
void CrashIsBadInput::report(int) {
  std::array<char, 4096> printed, line;
  std::size_t length = 0;
  const auto add = [&](std::string_view text) {
    length += text.copy(line.data() + length, std::min<std::size_t>(text.size(), line.size() - length));
  };
  std::string_view reason;
  if (current_->errors_ >= 0) {
    dup2(current_->errors_, STDERR_FILENO);
    const ssize_t count = pread(current_->kept_, printed.data(), printed.size(), 0);
    if (count > 0) reason = reason_in({printed.data(), static_cast<std::size_t>(count)});
  }
  add("sdsm: ");
  add(std::string_view(current_->name_).substr(0, 1024));
  add(": SimGrid cannot use this file (");
  add(reason.empty() ? "it does not say why" : reason.substr(0, 2048));
  const auto names = [&](std::string_view word) { return reason.find(word) != std::string_view::npos; };
  const bool is_vague = reason.empty() || names("oute") || names("dynar");
  add(is_vague ? "). Mend its zones, hosts, links or routes; every pair of hosts needs a route, and one only.\n"
               : "). Mend or leave out what it names.\n");
  commands::tell({line.data(), length});
  ::_exit(commands::bad_input);
}

}  // namespace sdsm::sim
