/// Runs a function in a child process. SimGrid allows one engine per process, so several simulations need a child each.
#pragma once

#include <functional>
#include <string>

#include "commands/child.hpp"
#include "commands/descriptor.hpp"

namespace sdsm::commands {

class ForkedCall {
 public:
  /// Starts a process that runs `body`. Throws RunError or std::system_error if that is impossible.
  explicit ForkedCall(const std::function<std::string()>& body) : ForkedCall(make_pipe(), body) {}

  /// Becomes readable when the child has sent something or has ended.
  int descriptor() const { return answer_.get(); }

  /// Waits for the end, and returns the result of `body`. If `body` threw, throws BadInput for BadInput and any other
  /// std::invalid_argument, else RunError. If the child itself ended with status 2, it has printed the reason on stderr
  /// (CrashIsBadInput): throws BadInput without findings.
  std::string result();

 private:
  ForkedCall(Pipe pipe, const std::function<std::string()>& body);

  Descriptor answer_;
  Child child_;
};

/// ForkedCall(body).result()
std::string in_child(const std::function<std::string()>& body);

}  // namespace sdsm::commands
