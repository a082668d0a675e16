#include "native/launch/run/host_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace sdsm::run_command {

commands::Descriptor HostOutput::add_host() {
  commands::Pipe pipe = commands::make_pipe();
  fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  hosts_.push_back({std::move(pipe.read_end), "", {}});
  return std::move(pipe.write_end);
}

void HostOutput::add_to(std::vector<pollfd>& polled) const {
  if (is_pending()) return polled.push_back({to_, POLLOUT, 0});
  for (const Host& host : hosts_) polled.push_back({host.pipe.get(), POLLIN, 0});
}

void HostOutput::give(Host& host, std::size_t bytes) {
  unwritten_.append(host.line, 0, bytes);
  host.line.erase(0, bytes);
}

/// False if nothing more is there.
bool HostOutput::take_from(Host& host, Time now, std::chrono::milliseconds patience_now) {
  constexpr std::size_t longest_line = 1 << 20;
  std::array<char, 1 << 14> buffer;
  const ssize_t count = read(host.pipe.get(), buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count > 0) {
    host.line.append(buffer.data(), static_cast<std::size_t>(count));
    host.last = now;
    give(host, host.line.size() > longest_line ? host.line.size() : host.line.rfind('\n') + 1);
    return true;
  }
  const bool has_ended = count == 0 || errno != EAGAIN;
  if (has_ended) host.pipe.reset();
  if (has_ended || now - host.last > patience_now) give(host, host.line.size());
  return false;
}

void HostOutput::pass(Time now, std::chrono::milliseconds patience_now) {
  constexpr std::size_t most_unwritten = 1 << 16;
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (Host& host : hosts_) {
      if (host.pipe.get() >= 0 && unwritten_.size() < most_unwritten) is_more |= take_from(host, now, patience_now);
    }
    while (is_pending()) {
      // A pipe that is ready takes as much as PIPE_BUF without waiting.
      pollfd ready{to_, POLLOUT, 0};
      if (poll(&ready, 1, 0) <= 0) return;
      const ssize_t count = write(to_, unwritten_.data(), std::min<std::size_t>(unwritten_.size(), PIPE_BUF));
      if (count < 0 && errno == EAGAIN) return;
      if (count < 0 && errno != EINTR) {
        hosts_.clear();
        return unwritten_.clear();
      }
      unwritten_.erase(0, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
  }
}

}  // namespace sdsm::run_command
