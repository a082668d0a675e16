#include "native/dsm/requests/events.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "native/dsm/wire/identity.hpp"
#include "native/dsm/wire/sockets.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

using Kind = ServiceEvent::Kind;

constexpr std::size_t most_events = 16;

constinit std::atomic<int> events = -1;  ///< an epoll set, whose data are a ServiceEvent
constinit std::atomic<int> waker = -1;   ///< an eventfd

void need(bool is_done) {
  if (is_done) return;
  program::end_run({"the sockets cannot be waited for: ", std::strerror(errno), remedy_for(errno)});
}

bool wait_for(int socket, std::uint32_t readiness, const ServiceEvent& what) {
  epoll_event event{};
  event.events = readiness;
  event.data.u64 = std::uint64_t{index_of(what.process)} << 8 | static_cast<std::uint64_t>(what.kind);
  return epoll_ctl(events, EPOLL_CTL_ADD, socket, &event) == 0;
}

ServiceEvent event_of(std::uint64_t data) {
  return {static_cast<Kind>(data & 0xff), ProcessId{static_cast<std::uint32_t>(data >> 8)}};
}

}  // namespace

void start_listening(const std::vector<int>& sockets) {
  events = to_high_number(epoll_create1(EPOLL_CLOEXEC));
  need(events >= 0);
  for (std::uint32_t other = 0; other < sockets.size(); ++other) {
    if (sockets[other] >= 0) need(wait_for(sockets[other], EPOLLIN, {Kind::question, ProcessId{other}}));
  }
  need(wait_for(self.control, EPOLLIN, {.kind = Kind::launcher}));
  waker = to_high_number(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  need(waker >= 0 && wait_for(waker, EPOLLIN, {.kind = Kind::waking}));
}

std::span<const ServiceEvent> await_events(std::span<ServiceEvent> room, const timespec* time) {
  epoll_event ready[most_events];
  const int most = static_cast<int>(std::min(room.size(), most_events));
  const int count =
      time == nullptr ? epoll_wait(events, ready, most, -1) : epoll_pwait2(events, ready, most, time, nullptr);
  for (int i = 0; i < count; ++i) {
    room[static_cast<std::size_t>(i)] = event_of(ready[i].data.u64);
    eventfd_t wakings = 0;
    if (room[static_cast<std::size_t>(i)].kind == Kind::waking) eventfd_read(waker, &wakings);
  }
  return room.first(static_cast<std::size_t>(std::max(count, 0)));
}

void wake_service() {
  eventfd_write(waker, 1);
}

void await_room(ProcessId to, int socket) {
  wait_for(socket, EPOLLOUT, {Kind::room, to});
}

void await_room_no_longer(int socket) {
  epoll_ctl(events, EPOLL_CTL_DEL, socket, nullptr);
}

}  // namespace sdsm::dsm
