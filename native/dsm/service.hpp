/// The service thread: answers others.
#pragma once

#include <vector>

#include "models/ids.hpp"
#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// Serves until the process ends. `sockets`: those on which others ask, by process.
[[noreturn]] void serve(std::vector<int> sockets) REQUIRES(service);

/// It tries again what was put off. Any other thread.
void wake_service();

/// It goes on with what waits for room (send_backlog()) as soon as this socket to process `to` has some. Any thread.
void await_room(ProcessId to, int socket);
void await_room_no_longer(int socket);

}  // namespace sdsm::dsm
