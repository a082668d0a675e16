/// Errors of commands, and the function that turns them into an exit status.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sdsm::commands {

enum ExitStatus : int { done = 0, run_failed = 1, bad_input = 2 };

/// Bad input or usage: exit status 2. Each finding is one line: the problem, its reason, and what to do next.
class BadInput : public std::invalid_argument {
 public:
  explicit BadInput(std::string_view finding) : BadInput(std::vector<std::string>{std::string(finding)}) {}
  explicit BadInput(std::vector<std::string> findings);
  const std::vector<std::string>& findings() const { return findings_; }

 private:
  std::vector<std::string> findings_;
};

/// The run failed: exit status 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws std::system_error for `errno`.
[[noreturn]] void throw_errno(const char* what);

/// The body of every main(). Opens standard streams that are closed, calls `body` and returns its exit status. If
/// `body` throws, prints the error on stderr and returns 2 for BadInput, any other std::invalid_argument, and system
/// errors that another file's name would avoid; else 1. The run also fails if stdout has not taken all output.
int exit_status_of(const std::function<int()>& body) noexcept;

}  // namespace sdsm::commands
