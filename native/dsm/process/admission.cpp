#include "native/dsm/process/admission.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/sockets.hpp"

namespace sdsm::dsm {
namespace {

/// A process of the run says its secret at once, though perhaps from afar.
constexpr std::uint64_t patience_ms = 10'000;
/// Silent strangers must not use up this process's files. Beyond this number the oldest is closed.
constexpr std::size_t most_visitors = 2 * most_processes;

std::uint64_t now_ms() {
  return now_ns() / 1'000'000;
}

bool lacks_files(int error) {
  return error == EMFILE || error == ENFILE;
}

}  // namespace

Admission::Admission(int listener, const std::uint8_t* secret) : listener_(listener), secret_(secret) {
  fcntl(listener_, F_SETFL, fcntl(listener_, F_GETFL) | O_NONBLOCK);
}

void Admission::close_all() {
  for (const Visitor& visitor : visitors_) close(visitor.socket);
  visitors_.clear();
  if (listener_ >= 0) close(listener_);
  listener_ = -1;
}

bool Admission::knows_secret(const Hello& hello) const {
  unsigned difference = 0;  // in the same time wherever they differ
  for (std::size_t i = 0; i < secret_bytes; ++i) difference |= static_cast<unsigned>(secret_[i] ^ hello.secret[i]);
  return difference == 0;
}

void Admission::take_new() {
  for (;;) {
    const int socket = accept_from(listener_);
    if (socket >= 0) {
      if (visitors_.size() == most_visitors) {
        close(visitors_.front().socket);
        visitors_.erase(visitors_.begin());
      }
      visitors_.push_back({socket, 0, now_ms() + patience_ms, {}});
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    if (lacks_files(errno) && !visitors_.empty()) {
      close(visitors_.front().socket);
      visitors_.erase(visitors_.begin());
      continue;
    }
    // A connection that is gone again, or failed on its way here, is no error of the run.
    const bool is_fatal = lacks_files(errno) || errno == ENOMEM || errno == ENOBUFS || errno == EINVAL ||
                          errno == EBADF || errno == ENOTSOCK;
    if (is_fatal) {
      error_ = errno;
      return;
    }
  }
}

Admission::Verdict Admission::read_name(Visitor& visitor) const {
  auto* bytes = reinterpret_cast<std::byte*>(&visitor.hello);
  while (visitor.have < sizeof(Hello)) {
    const ssize_t more = recv(visitor.socket, bytes + visitor.have, sizeof(Hello) - visitor.have, MSG_DONTWAIT);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return now_ms() < visitor.until_ms ? Verdict::waits : Verdict::goes;
    }
    if (more <= 0) return Verdict::goes;
    visitor.have += static_cast<std::size_t>(more);
  }
  return knows_secret(visitor.hello) ? Verdict::is_known : Verdict::goes;
}

std::optional<Admission::Arrival> Admission::next(int milliseconds) {
  const std::uint64_t until = now_ms() + static_cast<std::uint64_t>(milliseconds);
  constexpr int most_wait_ms = 100;  // then the strangers' time is checked
  std::vector<pollfd> polled;
  for (;;) {
    take_new();
    if (error_ != 0) return std::nullopt;
    for (std::size_t i = 0; i < visitors_.size();) {
      const Verdict verdict = read_name(visitors_[i]);
      if (verdict == Verdict::waits) {
        ++i;
        continue;
      }
      const Arrival arrival{visitors_[i].socket, visitors_[i].hello};
      visitors_.erase(visitors_.begin() + static_cast<std::ptrdiff_t>(i));
      if (verdict == Verdict::is_known) return arrival;
      close(arrival.socket);
    }
    const std::uint64_t now = now_ms();
    if (now >= until) return std::nullopt;
    polled.assign(1, {listener_, POLLIN, 0});
    for (const Visitor& visitor : visitors_) polled.push_back({visitor.socket, POLLIN, 0});
    const std::uint64_t left = until - now;
    poll(polled.data(), polled.size(), left < most_wait_ms ? static_cast<int>(left) : most_wait_ms);
  }
}

}  // namespace sdsm::dsm
