/// What the service thread waits for.
#pragma once

#include <ctime>
#include <span>
#include <vector>

#include "models/ids.hpp"
#include "native/dsm/wire/threads.hpp"

namespace sdsm::dsm {

struct ServiceEvent {
  enum class Kind : std::uint8_t {
    question,  ///< of another process, or a part of it
    room,      ///< for await_room()
    launcher,  ///< has sent a frame
    waking,    ///< by wake_service()
  };
  Kind kind{};
  ProcessId process{};  ///< of `question` and `room`
};

/// Begins to listen to the launcher and to these sockets, by process; -1: none. Ends the run if the system refuses.
void start_listening(const std::vector<int>& sockets) REQUIRES(service);

/// Waits until something happens, or until the time is over (null: for ever). Returns the events, in `room`.
std::span<const ServiceEvent> await_events(std::span<ServiceEvent> room, const timespec* time) REQUIRES(service);

/// Makes the service thread try again what was put off. Any other thread.
void wake_service();

/// Makes it call send_backlog() as soon as this socket to process `to` has room. Any thread.
void await_room(ProcessId to, int socket);
void await_room_no_longer(int socket);

}  // namespace sdsm::dsm
