#include "native/launch/run/logs/control_channel.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace sdsm::run_command {

void ControlChannel::send(dsm::FrameKind kind, const void* payload, std::size_t bytes) {
  if (!is_open()) return;
  const dsm::FrameHead head{kind, static_cast<std::uint32_t>(bytes)};
  unsent_.append(reinterpret_cast<const char*>(&head), sizeof head);
  if (bytes > 0) unsent_.append(static_cast<const char*>(payload), bytes);
  flush();
}

void ControlChannel::flush() {
  while (has_unsent()) {
    const ssize_t sent = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    // Its reading end is closed; what it said before is still to be read.
    if (sent < 0) return unsent_.clear();
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
}

void ControlChannel::receive() {
  std::string buffer(1 << 16, '\0');  // not on the stack, which may have 64 KiB in all
  while (is_open()) {
    const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return socket_.reset();
    received_.append(buffer.data(), static_cast<std::size_t>(count));
    // One that sends without end must not keep the launcher from the others.
    if (received_.size() > sizeof(dsm::FrameHead) + dsm::most_frame_bytes) return;
  }
}

std::optional<Frame> ControlChannel::next_frame() {
  dsm::FrameHead head;
  if (received_.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, received_.data(), sizeof head);
  if (head.kind > dsm::last_frame_kind || head.bytes > dsm::most_frame_bytes) {
    throw ProtocolError("sent the launcher bytes that are no message");
  }
  if (received_.size() < sizeof head + head.bytes) return std::nullopt;
  Frame frame{head.kind, received_.substr(sizeof head, head.bytes)};
  received_.erase(0, sizeof head + head.bytes);
  return frame;
}

std::string one_line(std::string_view text) {
  constexpr std::size_t most = 1000;
  std::string line(text.substr(0, most));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\0')) line.pop_back();
  for (char& sign : line) {
    if (static_cast<unsigned char>(sign) < ' ' || sign == 127) sign = ' ';
  }
  return line;
}

}  // namespace sdsm::run_command
