#include "native/dsm/requests/asking.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <utility>

#include "models/scash/courses.hpp"
#include "native/dsm/memory/stop_the_world.hpp"
#include "native/dsm/process/ending.hpp"
#include "native/dsm/process/launcher.hpp"
#include "native/dsm/process/processors.hpp"
#include "native/dsm/requests/events.hpp"
#include "native/dsm/requests/request_handlers.hpp"
#include "native/dsm/timing/timeline_log.hpp"
#include "native/dsm/wire/clock.hpp"
#include "native/dsm/wire/emulated_network.hpp"
#include "native/dsm/wire/modelled_messages.hpp"
#include "native/dsm/wire/sockets.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

using program::end_run;

/// The question during which signal handlers may run, and ask the same process. Its answer is of a kind of its own.
struct LongQuestion {
  int socket = -1;
  bool is_answered = false;
  Head answer;
  std::byte payload[most_payload] = {};
};
/// Sockets by process. They carry the application thread's questions, and messages between service threads.
constinit std::vector<int> sockets_at_start GUARDED_BY(starting);
constexpr const std::vector<int>& sockets = sockets_at_start;
constinit program::Mutex sending;
/// Bytes that a connection has not taken yet. No thread waits for room there: a service thread that did would not serve
/// the receiver, which may be waiting for room in its turn.
struct Backlog {
  std::vector<std::byte> bytes;
  std::size_t sent = 0;
};
constinit std::vector<Backlog> backlogs GUARDED_BY(sending);  ///< by process

/// False if the process is gone.
bool send(ProcessId to, Head& head, const void* payload) {
  const Held nobody_else_sends(sending);
  head.ticket = put_on_wire(to, modelled_payload(head));
  const int socket = sockets[index_of(to)];
  std::vector<std::byte>& backlog = backlogs[index_of(to)].bytes;
  const bool is_first = backlog.empty();
  const std::size_t bytes = sizeof head + head.bytes;
  const auto left = is_first ? send_now(socket, &head, sizeof head, payload, head.bytes) : bytes;
  if (!left || *left == 0) return left.has_value();
  const auto* const heads = reinterpret_cast<const std::byte*>(&head);
  const auto* const payloads = static_cast<const std::byte*>(payload);
  const std::size_t sent = bytes - *left;
  if (sent < sizeof head) backlog.insert(backlog.end(), heads + sent, heads + sizeof head);
  backlog.insert(backlog.end(), payloads + (sent < sizeof head ? 0 : sent - sizeof head), payloads + head.bytes);
  if (is_first) await_room(to, socket);
  return true;
}

struct Asking {
  LongQuestion long_question;
  /// The question during which handlers may run. They may touch memory, but not wait for other threads.
  std::optional<WireKind> long_wait;
  std::uint64_t questions = 0;
};
constinit Asking asking GUARDED_BY(application);

std::uint64_t left_until(std::uint64_t until_ns) {
  if (until_ns == no_end) return no_end;
  const std::uint64_t now = now_ns();
  return until_ns > now ? until_ns - now : 0;
}

bool waits_for_others(WireKind kind) {
  return kind == WireKind::barrier_arrive || kind == WireKind::lock_request || kind == WireKind::lock_try ||
         kind == WireKind::open_state || kind == WireKind::ordered_pass || kind == WireKind::object_meet ||
         kind == WireKind::object_await || kind == WireKind::flag_wait;
}

bool is_asked_meanwhile(int socket) REQUIRES(application) {
  return asking.long_question.socket == socket && !asking.long_question.is_answered;
}

/// The head of the next answer; keeps that of the long question aside.
bool receive_head(int socket, Head& head) REQUIRES(application) {
  for (;;) {
    if (!receive_all(socket, &head, sizeof head)) return false;
    if (!is_asked_meanwhile(socket) || !answers_long_question(head.kind)) return true;
    asking.long_question.is_answered = true;
    asking.long_question.answer = head;
    if (!receive_all(socket, asking.long_question.payload, head.bytes)) return false;
  }
}

/// The message that ends the wait for a question's answer.
Head impatience(const Head& question) {
  const std::uint64_t stays = question.kind == WireKind::object_await ? question.value : 0;
  return {.kind = WireKind::object_leave, .address = question.address, .value = stays};
}

/// The answer to the long question itself, after which the wait is to end at `until_ns`.
bool receive_long_answer(ProcessId to, const Head& question, std::uint64_t until_ns, Head& head, void* payload)
    REQUIRES(application) {
  const int socket = sockets[index_of(to)];
  asking.long_question.is_answered = false;
  asking.long_question.socket = socket;
  bool is_ready = false;
  while (!is_ready && !asking.long_question.is_answered) {
    is_ready = program::wait_for_input(socket, left_until(until_ns));
    if (is_ready || now_ns() < until_ns) continue;
    until_ns = no_end;
    tell(to, impatience(question));
  }
  const bool is_here = asking.long_question.is_answered;
  asking.long_question.socket = -1;
  if (!is_here) return receive_all(socket, &head, sizeof head) && receive_all(socket, payload, head.bytes);
  head = asking.long_question.answer;
  if (head.bytes > 0) std::memcpy(payload, asking.long_question.payload, head.bytes);
  return true;
}

/// Most likely that process has ended, which the launcher knows more about.
[[noreturn]] void end_without(ProcessId peer) REQUIRES(application) {
  if (asking.long_question.is_answered && asking.long_question.answer.kind == WireKind::quit) {
    end_worker(now_ns(), Dismissal::at_once);
  }
  const LostPeer lost{index_of(peer)};
  send_to_launcher(FrameKind::lost_peer, &lost, sizeof lost);
  leave(1);
}

/// False if the answer is still to come.
bool hand_to_self(const Head& head, const void* payload, Mailbox& own, Mailbox*& outer) EXCLUDES(handling) {
  const Held nothing_else_is_handled(handling);
  outer = exchange_mailbox(&own);
  own.outer = outer;
  handle(self.process, head, static_cast<const std::byte*>(payload));
  if (own.state.load(std::memory_order_relaxed) != Mailbox::full) return false;
  exchange_mailbox(outer);
  return true;
}

/// False when the time is over.
bool wait_for_mail(Mailbox& own, std::uint64_t until_ns) {
  std::uint32_t found = Mailbox::empty;
  own.state.compare_exchange_strong(found, Mailbox::awaited);
  while (own.state.load(std::memory_order_acquire) != Mailbox::full) {
    const timespec left = program::timespec_of(left_until(until_ns));
    if (left.tv_sec == 0 && left.tv_nsec == 0) return false;
    syscall(SYS_futex, &own.state, FUTEX_WAIT_PRIVATE, Mailbox::awaited, until_ns == no_end ? nullptr : &left);
  }
  return true;
}

void ask_self(const Head& head, const void* payload, Mailbox& own, Wait wait, std::uint64_t until_ns)
    REQUIRES(application) EXCLUDES(handling) {
  Mailbox* outer = nullptr;
  if (hand_to_self(head, payload, own, outer)) return;
  if (wait == Wait::with_handlers) {
    const program::AdmittedSignals admitted;
    if (!wait_for_mail(own, until_ns)) tell(self.process, impatience(head));
  }
  wait_for_mail(own, no_end);
  const Held nothing_is_handled(handling);
  exchange_mailbox(outer);
}

/// How long a fault polls for its page before it sleeps: a wake-up takes longer than the page does. Where processes
/// share processors it does not poll, as it would keep the home from running.
std::uint64_t fetch_patience_ns() REQUIRES(application) {
  return has_processors(1) && !is_emulating() ? 50'000 : 0;
}

}  // namespace

void ask_over(std::vector<int> connected) {
  sockets_at_start = std::move(connected);
  const Held nobody_sends(sending);
  backlogs.resize(processes());
}

void send_backlog(ProcessId to) {
  const Held nobody_else_sends(sending);
  Backlog& backlog = backlogs[index_of(to)];
  if (backlog.bytes.empty()) return;
  const int socket = sockets[index_of(to)];
  const auto left = send_now(socket, backlog.bytes.data() + backlog.sent, backlog.bytes.size() - backlog.sent);
  backlog.sent = backlog.bytes.size() - left.value_or(0);
  if (backlog.sent < backlog.bytes.size()) return await_room(to, socket);
  // All is sent; or the process is gone, which the service thread notices.
  backlog = {};
  await_room_no_longer(socket);
}

Head ask(ProcessId to, Head head, const void* payload, void* answer_payload, Wait wait, std::uint64_t until_ns) {
  const SlowCall held;
  ++asking.questions;
  if (asking.long_wait && waits_for_others(head.kind)) {
    end_run(
        {"a handler of a signal takes a lock or comes to a barrier while its thread waits for one. Handlers may touch "
         "shared memory; let the thread itself do the rest"});
  }
  if (wait == Wait::with_handlers) asking.long_wait = head.kind;
  Head reply;
  if (to == self.process) {
    Mailbox own;
    own.is_of_long_question = wait == Wait::with_handlers;
    ask_self(head, payload, own, wait, until_ns);
    if (own.head.bytes > 0) std::memcpy(answer_payload, own.payload, own.head.bytes);
    reply = own.head;
  } else {
    const int socket = sockets[index_of(to)];
    log_message(TimedEvent::Kind::asks, to, head);
    if (!send(to, head, payload) ||
        !(wait == Wait::with_handlers
              ? receive_long_answer(to, head, until_ns, reply, answer_payload)
              : receive_head(socket, reply) && receive_all(socket, answer_payload, reply.bytes))) {
      end_without(to);
    }
    wait_for_arrival(reply.ticket);
    log_message(TimedEvent::Kind::is_answered, to, reply);
  }
  if (wait == Wait::with_handlers) asking.long_wait.reset();
  return reply;
}

void tell(ProcessId to, Head head, const void* payload) {
  const SlowCall held;
  ++asking.questions;
  if (to == self.process) {
    const Held nothing_else_is_handled(handling);
    return handle(to, head, static_cast<const std::byte*>(payload));
  }
  log_message(TimedEvent::Kind::asks, to, head);
  if (!send(to, head, payload)) end_without(to);
}

Head await_answer(ProcessId from) {
  const SlowCall held;
  Head reply;
  if (!receive_head(sockets[index_of(from)], reply)) end_without(from);
  wait_for_arrival(reply.ticket);
  log_message(TimedEvent::Kind::is_answered, from, reply);
  return reply;
}

void notify(ProcessId to, Head head, const void* payload) {
  send(to, head, payload);
}

Head ask_soon(ProcessId to, Head head, const void* payload, void* answer, std::size_t bytes) {
  const int socket = sockets[index_of(to)];
  ++asking.questions;
  Head reply;
  log_message(TimedEvent::Kind::asks, to, head);
  // The answer's size is known, so one call takes all of it: unless another answer may come before.
  if (!send(to, head, payload) ||
      !(is_asked_meanwhile(socket) ? receive_head(socket, reply) && receive_all(socket, answer, bytes)
                                   : receive_both(socket, &reply, sizeof reply, answer, bytes, fetch_patience_ns()))) {
    end_without(to);
  }
  wait_for_arrival(reply.ticket);
  log_message(TimedEvent::Kind::is_answered, to, reply);
  return reply;
}

std::uint64_t questions_so_far() {
  return asking.questions;
}

std::uint64_t questions_retransmitted() {
  std::uint64_t sum = 0;
  for (const int socket : sockets) sum += retransmissions(socket);
  return sum;
}

bool is_in_long_wait() {
  return asking.long_wait.has_value();
}

bool is_at_barrier() {
  return asking.long_wait == WireKind::barrier_arrive;
}

Head answer_of_barrier() {
  asking.long_wait.reset();
  LongQuestion open = std::exchange(asking.long_question, {});
  Head head = open.answer;
  if (!open.is_answered &&
      !(receive_all(open.socket, &head, sizeof head) && receive_all(open.socket, open.payload, head.bytes)))
    end_without(barrier_master);
  return head;
}

}  // namespace sdsm::dsm
