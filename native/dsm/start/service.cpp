#include "native/dsm/start/service.hpp"

#include <unistd.h>

#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "native/dsm/process/launcher.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/dsm/requests/events.hpp"
#include "native/dsm/requests/request_handlers.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/traps/waits.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/counting.hpp"
#include "native/dsm/wire/emulated_network.hpp"
#include "native/dsm/wire/sockets.hpp"

namespace sdsm::dsm {
namespace {

/// On an emulated network: messages that are here before their time. One process's come in the order in which it sent
/// them, also those that the network does not delay.
struct Underway {
  Head head;
  std::vector<std::byte> payload;
};
/// A message as far as it has come. Nobody waits for its rest: the sender's service thread may have to send that, and
/// would not if it waited for the rest of one from here.
struct PartialMessage {
  Head head;
  std::vector<std::byte> payload;  ///< keeps the size of the largest message so far
  std::size_t received = 0;        ///< of both
};
/// JIAJIA's diffs have the twin's words and a head for each page.
constexpr std::size_t longest_payload = std::size_t{2} * most_page.count;

struct Service {
  std::vector<int> sockets;                    ///< by process
  std::vector<PartialMessage> incoming;        ///< by process
  std::vector<std::deque<Underway>> underway;  ///< by process
  std::size_t underway_count = 0;
};
constinit Service receiving GUARDED_BY(service);

void answer_launcher() {
  receive_from_launcher(FrameKind::ping);
  send_to_launcher(FrameKind::pong);
}

/// A process that closes its connection has ended, or died. The launcher sees which, and ends the run if need be. For
/// this process it merely has no more questions.
void forget_process(ProcessId from) REQUIRES(service) {
  const Held nothing_is_handled(handling);
  end_answering(from);
  close(receiving.sockets[index_of(from)]);
  receiving.sockets[index_of(from)] = -1;
}

/// `arrived_ns`: when the message was here.
void handle_from(ProcessId from, const Head& head, const std::byte* payload, std::uint64_t arrived_ns)
    REQUIRES(service) {
  const Held nothing_else_is_handled(handling);
  const std::uint64_t begun_ns = self.wants_timeline ? now_ns() : 0;
  handle(from, head, payload);
  log_handled(from, head, arrived_ns, begun_ns);
  if (head.kind != WireKind::page_request || is_on_own_node(from)) return;
  served.pages_served += 1 + (head.value == 0 ? head.bytes / sizeof(std::uint32_t) : 0);
  // A page that somebody else has to downgrade first is not on its way yet: that is no service of this process's.
  if (last_answer_ns() >= arrived_ns) served.page_service_ns += last_answer_ns() - arrived_ns;
}

/// The next one of the messages underway, and its time.
struct Next {
  std::uint32_t from = 0;
  std::uint64_t due_ns = ~std::uint64_t{0};
};
Next next_underway() REQUIRES(service) {
  Next next;
  for (std::uint32_t from = 0; from < receiving.underway.size(); ++from) {
    if (receiving.underway[from].empty()) continue;
    const std::uint64_t due = arrival_of(receiving.underway[from].front().head.ticket);
    if (due < next.due_ns) next = {from, due};
  }
  return next;
}

void handle_what_is_due() REQUIRES(service) {
  while (receiving.underway_count > 0) {
    const Next next = next_underway();
    if (next.due_ns > now_ns()) return;
    const Underway message = std::move(receiving.underway[next.from].front());
    receiving.underway[next.from].pop_front();
    --receiving.underway_count;
    take_from_wire(message.head.ticket);
    handle_from(ProcessId{next.from}, message.head, message.payload.data(), next.due_ns);
  }
}

/// Receives what has come of a message. Whether it is whole; empty if the process is gone.
std::optional<bool> receive_what_has_come(int socket, PartialMessage& next) {
  constexpr std::size_t head_bytes = sizeof next.head;
  while (next.received < head_bytes || next.received < head_bytes + next.head.bytes) {
    const bool is_in_head = next.received < head_bytes;
    std::byte* const part = is_in_head ? reinterpret_cast<std::byte*>(&next.head) : next.payload.data();
    const std::size_t had = is_in_head ? next.received : next.received - head_bytes;
    const auto more = receive_now(socket, part + had, (is_in_head ? head_bytes : std::size_t{next.head.bytes}) - had);
    if (!more) return std::nullopt;
    if (*more == 0) return false;
    next.received += *more;
    if (next.received != head_bytes) continue;
    if (next.head.bytes > longest_payload) return std::nullopt;
    if (next.payload.size() < next.head.bytes) next.payload.resize(next.head.bytes);
  }
  return true;
}

void answer_process(ProcessId from) REQUIRES(service) {
  const std::uint64_t received_ns = now_ns();
  PartialMessage& next = receiving.incoming[index_of(from)];
  const auto is_whole = receive_what_has_come(receiving.sockets[index_of(from)], next);
  if (!is_whole) return forget_process(from);
  if (!*is_whole) return;
  next.received = 0;
  const Head head = next.head;
  std::deque<Underway>& before = receiving.underway[index_of(from)];
  if (head.ticket != 0 || !before.empty()) {
    before.push_back({head, {next.payload.data(), next.payload.data() + head.bytes}});
    ++receiving.underway_count;
    return;
  }
  handle_from(from, head, next.payload.data(), received_ns);
}

bool continues_downgrades() {
  const Held nothing_else_is_handled(handling);
  return the_protocol().try_again();
}

/// How long the service thread may sleep: until shortly before the next message is due. Null if none is underway.
const timespec* time_to_next(timespec& time) REQUIRES(service) {
  constexpr std::uint64_t again_ns = 50'000;
  if (continues_downgrades()) {
    time = program::timespec_of(again_ns);
    return &time;
  }
  if (receiving.underway_count == 0) return nullptr;
  const std::uint64_t now = now_ns();
  const std::uint64_t woken = next_underway().due_ns - wake_up_ns;
  time = program::timespec_of(woken > now ? woken - now : 0);
  return &time;
}

void take_event(const ServiceEvent& event) REQUIRES(service) {
  switch (event.kind) {
    case ServiceEvent::Kind::question: return answer_process(event.process);
    case ServiceEvent::Kind::room: return send_backlog(event.process);
    case ServiceEvent::Kind::launcher: return answer_launcher();
    case ServiceEvent::Kind::waking: return;
  }
}

}  // namespace

void serve(std::vector<int> sockets) {
  receiving.sockets = std::move(sockets);
  receiving.incoming.resize(processes());
  receiving.underway.resize(processes());
  start_listening(receiving.sockets);
  // The application thread may have begun before.
  for (std::uint32_t other = 0; other < processes(); ++other) send_backlog(ProcessId{other});
  for (;;) {
    ServiceEvent room[16];
    timespec time;
    const timespec* const wait = time_to_next(time);
    wake_resting_thread();
    for (const ServiceEvent& event : await_events(room, wait)) take_event(event);
    handle_what_is_due();
    send_long_handled_log();
  }
}

}  // namespace sdsm::dsm
