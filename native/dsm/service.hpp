/// The service thread, which answers other processes.
#pragma once

#include <vector>

#include "models/ids.hpp"
#include "native/dsm/threads.hpp"

namespace sdsm::dsm {

/// Serves until the process ends. `sockets`: on which others ask, by process.
[[noreturn]] void serve(std::vector<int> sockets) REQUIRES(service);

/// Makes it try again what was put off. Any other thread.
void wake_service();

/// Makes it call send_backlog() as soon as this socket to process `to` has room. Any thread.
void await_room(ProcessId to, int socket);
void await_room_no_longer(int socket);

}  // namespace sdsm::dsm
