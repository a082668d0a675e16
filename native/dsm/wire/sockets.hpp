/// Stream sockets between processes, and to the launcher. All calls but send_now() send or receive everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "native/dsm/wire/control.hpp"

namespace sdsm::dsm {

/// False if the other end is gone.
bool send_all(int socket, const void* head, std::size_t head_bytes, const void* payload = nullptr,
              std::size_t payload_bytes = 0);
/// Sends what the connection takes without waiting. Returns how many bytes are left; empty if the other end is gone.
std::optional<std::size_t> send_now(int socket, const void* head, std::size_t head_bytes, const void* payload = nullptr,
                                    std::size_t payload_bytes = 0);
bool receive_all(int socket, void* data, std::size_t bytes);
/// Receives what is there, at most `bytes`; 0 if nothing is. Empty if the other end is gone.
std::optional<std::size_t> receive_now(int socket, void* data, std::size_t bytes);
/// Receives two pieces in one call. Polls for `patience_ns` before it sleeps.
bool receive_both(int socket, void* first, std::size_t first_bytes, void* second, std::size_t second_bytes,
                  std::uint64_t patience_ns);

/// Makes a socket that others can connect to, and its address: "unix:NAME" (in the abstract name space) or
/// "tcp:HOST:PORT". Negative if the system refuses.
int listen_on(Transport transport, const char* host, std::string& address);
/// Connects to an address of listen_on(). Negative, with errno, if nobody listens there. from, of tcp: IPv4 address of
/// this machine to connect from; "": any.
int connect_to(const std::string& address, const char* from = "");
/// Accepts a connection. Negative, with errno, if there is none.
int accept_from(int listener);

/// Segments that TCP has sent again on this connection; 0 for others.
std::uint64_t retransmissions(int socket);

/// From here on a TCP connection counts as lost when its peer's machine has been silent for so long; 0: as the system
/// has it.
void set_patience(std::uint32_t milliseconds);

/// From here on connect_to() fails (ETIMEDOUT) when a host has not answered for so long; set_patience() sets it to
/// half.
void limit_connecting(std::uint32_t milliseconds);

/// Advice where a host is not reached over TCP.
inline constexpr const char* firewall_remedy =
    "Is there a firewall? sdsm listens at ports that each system chooses (`sysctl net.ipv4.ip_local_port_range`): open "
    "these TCP ports between the hosts, and on this machine";

/// Advice for an errno of making a file or socket; "" if there is none.
const char* remedy_for(int error);

/// Moves a descriptor to a high number, so that the program's own files get the numbers that they would have alone.
int to_high_number(int descriptor);

}  // namespace sdsm::dsm
