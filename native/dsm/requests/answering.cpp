#include "native/dsm/requests/answering.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "native/dsm/memory/region_books.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/emulated_network.hpp"
#include "native/dsm/wire/identity.hpp"
#include "native/dsm/wire/modelled_messages.hpp"
#include "native/dsm/wire/sockets.hpp"

namespace sdsm::dsm {
namespace {

struct Answering {
  std::vector<int> sockets;  ///< by process
  Mailbox* mailbox = nullptr;
  std::uint64_t last_ns = 0;
  std::uint32_t passed_generation = 0;
  std::uint64_t retransmitted = 0;  ///< on connections that are closed
};
constinit Answering answering GUARDED_BY(handling);

}  // namespace

void answer_over(std::vector<int> sockets) {
  const Held nothing_is_handled(handling);
  answering.sockets = std::move(sockets);
}

void end_answering(ProcessId to) {
  answering.retransmitted += retransmissions(answering.sockets[index_of(to)]);
  answering.sockets[index_of(to)] = -1;
}

void answer(ProcessId to, const Head& head, const void* payload) {
  if (to == self.process) {
    Mailbox& latest = *answering.mailbox;
    const bool is_outer = latest.outer != nullptr && answers_long_question(head.kind) && !latest.is_of_long_question;
    Mailbox& asker = is_outer ? *latest.outer : latest;
    asker.head = head;
    if (payload != nullptr) std::memcpy(asker.payload, payload, head.bytes);
    if (asker.state.exchange(Mailbox::full, std::memory_order_release) == Mailbox::awaited) {
      syscall(SYS_futex, &asker.state, FUTEX_WAKE_PRIVATE, 1);
    }
    return;
  }
  Head stamped = head;
  stamped.ticket = put_on_wire(to, modelled_payload(head));
  log_answer(to, head);
  const bool is_on_wire = stamped.ticket != 0;
  if (is_on_wire) answering.last_ns = now_ns();
  send_all(answering.sockets[index_of(to)], &stamped, sizeof stamped, payload, head.bytes);
  if (!is_on_wire) answering.last_ns = now_ns();
}

std::uint64_t answers_retransmitted() {
  std::uint64_t sum = answering.retransmitted;
  for (const int socket : answering.sockets) sum += retransmissions(socket);
  return sum;
}

std::uint64_t last_answer_ns() {
  return answering.last_ns;
}

void answer_value(ProcessId to, std::uint64_t value) {
  answer(to, {.kind = WireKind::done, .generation = newest_generation(), .value = value});
}

std::uint32_t newest_generation() {
  return std::max(answering.passed_generation, generation());
}

void note_passing(std::uint32_t passed) {
  answering.passed_generation = std::max(answering.passed_generation, passed);
}

Mailbox* exchange_mailbox(Mailbox* wanted) {
  return std::exchange(answering.mailbox, wanted);
}

}  // namespace sdsm::dsm
