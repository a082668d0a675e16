/// What the processes of several hosts print, on its way to standard output. It goes on in whole lines, as the commands
/// that reach the hosts pass text on in pieces of any length.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <poll.h>

#include "commands/descriptor.hpp"

namespace sdsm::run_command {

class HostOutput {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// The begin of a line, a question to the user say, goes on if its rest has not come by then.
  static constexpr std::chrono::milliseconds patience{500};

  /// `to`: a descriptor, at which SIGPIPE is ignored.
  explicit HostOutput(int to) : to_(to) {}
  HostOutput& operator=(HostOutput&&) = delete;

  /// Returns where a host's output is to be written. Throws std::system_error.
  commands::Descriptor add_host();
  void add_to(std::vector<pollfd>& polled) const;
  /// Passes on what is there, without waiting. Where nobody reads, the hosts' writing fails from then on.
  void pass(Time now, std::chrono::milliseconds patience_now = patience);
  /// As pass(), with the begins of lines, when the hosts have ended.
  void pass_rest() { pass(std::chrono::steady_clock::now(), std::chrono::milliseconds(-1)); }
  /// Whether the reader has not taken all.
  bool is_pending() const { return !unwritten_.empty(); }

 private:
  struct Host {
    commands::Descriptor pipe;
    std::string line;  ///< without an end so far
    Time last{};
  };

  bool take_from(Host& host, Time now, std::chrono::milliseconds patience_now);
  void give(Host& host, std::size_t bytes);

  int to_;
  std::vector<Host> hosts_;
  std::string unwritten_;
};

}  // namespace sdsm::run_command
