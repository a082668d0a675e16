/// The launcher's end of the socket to one process.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "commands/descriptor.hpp"
#include "native/dsm/wire/control.hpp"

namespace sdsm::run_command {

/// Thrown where received bytes are no frame.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Frame {
  dsm::FrameKind kind{};
  std::string payload;
};

/// Never blocks, as a process that hangs must not make the launcher hang.
class ControlChannel {
 public:
  /// socket: connected, and non-blocking.
  explicit ControlChannel(commands::Descriptor socket) : socket_(std::move(socket)) {}

  /// The socket's descriptor; negative once it is closed.
  int descriptor() const { return socket_.get(); }
  bool is_open() const { return socket_.get() >= 0; }

  /// Sends what the socket takes, and keeps the rest for flush(). Does nothing on a closed socket.
  void send(dsm::FrameKind kind, const void* payload = nullptr, std::size_t bytes = 0);
  void flush();
  bool has_unsent() const { return is_open() && !unsent_.empty(); }

  /// Reads what has come. Closes the socket when the process has closed its end.
  void receive();
  /// The next whole frame, if one has come. Throws ProtocolError.
  std::optional<Frame> next_frame();

 private:
  commands::Descriptor socket_;
  std::string unsent_;
  std::string received_;
};

/// A process's text, shortened and without control characters, for one line on a terminal.
std::string one_line(std::string_view text);

}  // namespace sdsm::run_command
