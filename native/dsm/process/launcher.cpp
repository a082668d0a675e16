#include "native/dsm/process/launcher.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "models/prefetch.hpp"
#include "native/dsm/wire/sockets.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/message.hpp"

namespace sdsm::dsm {
namespace {

using program::end_run;

constinit program::Mutex sending_to_launcher;

}  // namespace

std::optional<Welcome> meet_launcher() {
  const char* number = std::getenv(control_variable);
  if (number == nullptr) {
    self_at_start.node_memory = memfd_create("sdsm", MFD_CLOEXEC);
    if (self.node_memory < 0) end_run({"there is no memory for the program"});
    return std::nullopt;
  }
  self_at_start.control = std::atoi(number);
  fcntl(self.control, F_SETFD, FD_CLOEXEC);
  Welcome welcome;
  const std::string payload = receive_from_launcher(FrameKind::welcome);
  if (payload.size() != sizeof welcome) end_run({"the launcher is of another version than the run-time"});
  std::memcpy(&welcome, payload.data(), sizeof welcome);
  if (welcome.version != control_version) end_run({"the launcher is of another version than the run-time"});
  self_at_start.process = ProcessId{welcome.process};
  self_at_start.machines = {welcome.nodes, welcome.threads_per_node};
  self_at_start.layout = layout_of_memory(welcome.protocol, self.machines);
  self_at_start.protocol = welcome.protocol;
  self_at_start.jiajia = welcome.jiajia;
  self_at_start.placement = welcome.placement;
  self_at_start.atomics = welcome.atomics;
  self_at_start.home_pages = home_pages_of(welcome.protocol);
  self_at_start.invalidation = welcome.invalidation;
  self_at_start.prefetch = std::min(welcome.prefetch, most_prefetch);
  self_at_start.page_bytes = welcome.page_bytes;
  self_at_start.node_memory = welcome.node_memory;
  self_at_start.is_bound = welcome.processor >= 0;
  self_at_start.processes_on_host = welcome.processes_on_host;
  self_at_start.wants_page_log = welcome.wants_page_log != 0;
  self_at_start.shares_clock = welcome.transport == Transport::unix_sockets;
  self_at_start.wants_timeline = welcome.wants_timeline != 0;
  fcntl(self.node_memory, F_SETFD, FD_CLOEXEC);
  return welcome;
}

std::string receive_from_launcher(FrameKind wanted) {
  FrameHead head;
  // The launcher is gone, or wants this process gone: nobody would read a message.
  if (!receive_all(self.control, &head, sizeof head)) leave(1);
  if (head.kind != wanted || head.bytes > most_frame_bytes) end_run({"the launcher says something unexpected"});
  std::string payload(head.bytes, '\0');
  if (!receive_all(self.control, payload.data(), payload.size())) leave(1);
  return payload;
}

void send_to_launcher(FrameKind kind, const void* payload, std::size_t bytes) {
  if (self.control < 0) return;
  const Held held(sending_to_launcher);
  const FrameHead head{kind, static_cast<std::uint32_t>(bytes)};
  send_all(self.control, &head, sizeof head, payload, bytes);
}

void leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace sdsm::dsm

namespace sdsm::program {

using namespace dsm;

void end_run(std::initializer_list<const char*> why) {
  if (self.control < 0) {
    gomp::message(why);
  } else {
    // On the stack: this may be a signal handler.
    char text[1024];
    std::size_t length = 0;
    for (const char* part : why) {
      const std::size_t bytes = std::strlen(part);
      if (length + bytes > sizeof text) break;
      std::memcpy(text + length, part, bytes);
      length += bytes;
    }
    send_to_launcher(FrameKind::failed, text, length);
  }
  leave(1);
}

}  // namespace sdsm::program
