#include "native/dsm/wire/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "native/dsm/wire/clock.hpp"

namespace sdsm::dsm {
namespace {

constexpr int backlog = 2 * static_cast<int>(most_processes);
constexpr int first_high_number = 300;
constexpr const char* unix_prefix = "unix:";
constexpr const char* tcp_prefix = "tcp:";

/// Names in the abstract name space begin with a zero byte and belong to no folder.
socklen_t fill_unix(sockaddr_un& address, const std::string& name) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::size_t length = name.size() < sizeof address.sun_path - 1 ? name.size() : sizeof address.sun_path - 1;
  std::memcpy(address.sun_path + 1, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

std::string random_name() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return {};
  std::string name = "sdsm-";
  constexpr char digits[] = "0123456789abcdef";
  for (const unsigned char byte : bytes) {
    name += digits[byte >> 4];
    name += digits[byte & 15];
  }
  return name;
}

int listen_unix(std::string& address) {
  const std::string name = random_name();
  sockaddr_un where;
  const socklen_t length = fill_unix(where, name);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0 || name.empty()) return -1;
  if (bind(socket, reinterpret_cast<const sockaddr*>(&where), length) != 0 || listen(socket, backlog) != 0) return -1;
  address = unix_prefix + name;
  return socket;
}

int listen_tcp(const char* host, std::string& address) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  if (inet_pton(AF_INET, host, &where.sin_addr) != 1) return -1;
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  if (bind(socket, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 || listen(socket, backlog) != 0) {
    return -1;
  }
  socklen_t length = sizeof where;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&where), &length) != 0) return -1;
  address = std::string(tcp_prefix) + host + ":" + std::to_string(ntohs(where.sin_port));
  return socket;
}

int close_with_errno(int socket) {
  const int error = errno;
  close(socket);
  errno = error;
  return -1;
}

/// Any port of that address.
bool bind_to(int socket, const char* host) {
  sockaddr_in own{};
  own.sin_family = AF_INET;
  if (inet_pton(AF_INET, host, &own.sin_addr) != 1) {
    errno = EINVAL;
    return false;
  }
  return bind(socket, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0;
}

constinit int tcp_patience_ms = 0;
constinit std::uint32_t connecting_ms = 0;

/// A page request must not wait for more to send, nor for a peer that a cut cable has taken away. Fails on Unix
/// sockets, which do neither.
void prepare_tcp(int socket) {
  const auto set = [socket](int level, int option, int value) {
    setsockopt(socket, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  if (tcp_patience_ms == 0) return;
  const int probe_s = std::max(1, tcp_patience_ms / 4000);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, probe_s);
  set(IPPROTO_TCP, TCP_KEEPINTVL, probe_s);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, std::max(2000, tcp_patience_ms));  // a lost packet takes 0.2 s and more
}

int connect_unix(const std::string& name) {
  sockaddr_un where;
  const socklen_t length = fill_unix(where, name);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0 || connect(socket, reinterpret_cast<const sockaddr*>(&where), length) != 0) return -1;
  return socket;
}

int connect_tcp(const std::string& host_and_port, const char* from) {
  const std::size_t colon = host_and_port.rfind(':');
  if (colon == std::string::npos) return -1;
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(std::atoi(host_and_port.c_str() + colon + 1)));
  if (inet_pton(AF_INET, host_and_port.substr(0, colon).c_str(), &where.sin_addr) != 1) return -1;
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &connecting_ms, sizeof connecting_ms);
  if ((*from != '\0' && !bind_to(socket, from)) ||
      connect(socket, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    return close_with_errno(socket);
  }
  constexpr unsigned as_system_has_it = 0;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &as_system_has_it, sizeof as_system_has_it);
  prepare_tcp(socket);
  return socket;
}

/// Returns how many bytes are left, upon which errno says why.
std::size_t send_with(int flags, int socket, const void* head, std::size_t head_bytes, const void* payload,
                      std::size_t payload_bytes) {
  iovec parts[2] = {{const_cast<void*>(head), head_bytes}, {const_cast<void*>(payload), payload_bytes}};
  std::size_t left = head_bytes + payload_bytes;
  while (left > 0) {
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t sent = payload_bytes == 0 ? ::send(socket, parts[0].iov_base, left, MSG_NOSIGNAL | flags)
                                            : sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return left;
    }
    left -= static_cast<std::size_t>(sent);
    auto gone = static_cast<std::size_t>(sent);
    for (iovec& part : parts) {
      const std::size_t taken = gone < part.iov_len ? gone : part.iov_len;
      part.iov_base = static_cast<std::byte*>(part.iov_base) + taken;
      part.iov_len -= taken;
      gone -= taken;
    }
  }
  return 0;
}

}  // namespace

void set_patience(std::uint32_t milliseconds) {
  tcp_patience_ms = static_cast<int>(milliseconds);
  limit_connecting(milliseconds / 2);
}

void limit_connecting(std::uint32_t milliseconds) {
  connecting_ms = milliseconds;
}

bool send_all(int socket, const void* head, std::size_t head_bytes, const void* payload, std::size_t payload_bytes) {
  return send_with(0, socket, head, head_bytes, payload, payload_bytes) == 0;
}

std::optional<std::size_t> send_now(int socket, const void* head, std::size_t head_bytes, const void* payload,
                                    std::size_t payload_bytes) {
  const std::size_t left = send_with(MSG_DONTWAIT, socket, head, head_bytes, payload, payload_bytes);
  if (left > 0 && errno != EAGAIN) return std::nullopt;
  return left;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(data);
  while (bytes > 0) {
    const ssize_t received = recv(socket, at, bytes, MSG_WAITALL);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    at += received;
    bytes -= static_cast<std::size_t>(received);
  }
  return true;
}

std::optional<std::size_t> receive_now(int socket, void* data, std::size_t bytes) {
  for (;;) {
    const ssize_t received = recv(socket, data, bytes, MSG_DONTWAIT);
    if (received > 0) return static_cast<std::size_t>(received);
    if (received < 0 && errno == EAGAIN) return 0;
    if (received == 0 || errno != EINTR) return std::nullopt;
  }
}

bool receive_both(int socket, void* first, std::size_t first_bytes, void* second, std::size_t second_bytes,
                  std::uint64_t patience_ns) {
  iovec parts[2] = {{first, first_bytes}, {second, second_bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  ssize_t received = -1;
  const std::uint64_t end = patience_ns > 0 ? now_ns() + patience_ns : 0;
  do {
    const bool is_patient = end != 0 && now_ns() < end;
    received = recvmsg(socket, &message, is_patient ? MSG_DONTWAIT : MSG_WAITALL);
  } while (received < 0 && (errno == EINTR || errno == EAGAIN));
  if (received <= 0) return false;
  const auto had = static_cast<std::size_t>(received);
  if (had < first_bytes) {
    return receive_all(socket, static_cast<std::byte*>(first) + had, first_bytes - had) &&
           receive_all(socket, second, second_bytes);
  }
  const std::size_t had_of_second = had - first_bytes;
  return receive_all(socket, static_cast<std::byte*>(second) + had_of_second, second_bytes - had_of_second);
}

int listen_on(Transport transport, const char* host, std::string& address) {
  const int socket = transport == Transport::tcp ? listen_tcp(host, address) : listen_unix(address);
  return socket < 0 ? -1 : to_high_number(socket);
}

int connect_to(const std::string& address, const char* from) {
  if (address.starts_with(unix_prefix)) return to_high_number(connect_unix(address.substr(std::strlen(unix_prefix))));
  if (address.starts_with(tcp_prefix))
    return to_high_number(connect_tcp(address.substr(std::strlen(tcp_prefix)), from));
  errno = EINVAL;
  return -1;
}

int accept_from(int listener) {
  const int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return -1;
  prepare_tcp(socket);
  return to_high_number(socket);
}

std::uint64_t retransmissions(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 ? info.tcpi_total_retrans : 0;
}

const char* remedy_for(int error) {
  switch (error) {
    case EMFILE: return ". Raise the limit of open files: ulimit -n 2048";
    case ENFILE: return ". The machine's limit of open files is reached: sysctl fs.file-max tells it";
    case ENOMEM:
    case ENOBUFS: return ". The machine has no memory left: end something else on it, or run fewer threads";
    default: return "";
  }
}

int to_high_number(int descriptor) {
  if (descriptor < 0) return descriptor;
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, first_high_number);
  if (high < 0) return descriptor;
  close(descriptor);
  return high;
}

}  // namespace sdsm::dsm
