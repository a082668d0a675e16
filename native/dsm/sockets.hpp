/// Stream sockets between processes, and to the launcher. No call returns before everything is sent or received.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "native/dsm/control.hpp"

namespace sdsm::dsm {

/// False if the other end is gone.
bool send_all(int socket, const void* head, std::size_t head_bytes, const void* payload = nullptr,
              std::size_t payload_bytes = 0);
bool receive_all(int socket, void* data, std::size_t bytes);
/// The same for two pieces in one call. For `patience_ns` it looks again and again before it sleeps.
bool receive_both(int socket, void* first, std::size_t first_bytes, void* second, std::size_t second_bytes,
                  std::uint64_t patience_ns);

/// A socket that others can connect to, and the address under which: "unix:NAME" (in the abstract name space) or
/// "tcp:HOST:PORT". Negative if there is none.
int listen_on(Transport transport, const char* host, std::string& address);
/// Negative, with errno, if nobody listens there. from: tcp: IPv4 address of this machine to connect from; "": any.
int connect_to(const std::string& address, const char* from = "");
/// A connection that has arrived; negative, with errno, if there is none.
int accept_from(int listener);

/// What to do about an errno of making a file or socket; "" if there is nothing better than its name.
const char* remedy_for(int error);

/// Moved out of the way of the program's own files, which get the numbers that they would have alone.
int to_high_number(int descriptor);

}  // namespace sdsm::dsm
