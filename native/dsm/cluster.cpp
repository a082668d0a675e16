#include "native/dsm/cluster.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/openmp.hpp"
#include "native/dsm/admission.hpp"
#include "native/dsm/managers.hpp"
#include "native/dsm/page_log.hpp"
#include "native/dsm/sockets.hpp"
#include "native/dsm/start.hpp"
#include "native/gomp/message.hpp"
#include "native/program/ending.hpp"
#include "native/program/real_pthread.hpp"
#include "native/program/signals.hpp"

namespace sdsm::dsm {
namespace {

using program::Decimal;
using program::end_run;

std::uint8_t secret[secret_bytes];
int listener = -1;
std::vector<int> asking;     ///< by process: where this one asks
std::vector<int> answering;  ///< by process: where this one answers

/// Only one thread at a time handles requests: the service thread, or the application thread with one to itself.
pthread_mutex_t handling = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t control_sending = PTHREAD_MUTEX_INITIALIZER;

class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Locked() { pthread_mutex_unlock(&mutex_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  program::HeldSignals held_;
  pthread_mutex_t& mutex_;
};

/// The answer to what this process asked itself.
struct Mailbox {
  std::atomic<std::uint32_t> is_full = 0;
  Head head;
  std::byte payload[most_payload];
};
/// Of the question that was asked last, and has not been answered: a handler of the program's may ask while its thread
/// waits for an answer. Changed under `handling`.
Mailbox* mailbox = nullptr;

/// The question to another process during which handlers are let in, which may ask the same process. Its answer is one
/// that theirs never are.
struct LongQuestion {
  int socket = -1;
  bool is_answered = false;
  Head answer;
};
LongQuestion long_question;
/// What was asked with handlers let in, who may touch memory; to wait for others there is no place.
std::optional<WireKind> long_wait;

bool waits_for_others(WireKind kind) {
  return kind == WireKind::barrier_arrive || kind == WireKind::lock_request || kind == WireKind::lock_try ||
         kind == WireKind::open_state || kind == WireKind::ordered_pass;
}

bool answers_long_question(WireKind kind) {
  return kind == WireKind::barrier_release || kind == WireKind::quit || kind == WireKind::exit_run ||
         kind == WireKind::lock_grant;
}
bool is_asked_meanwhile(int socket) {
  return long_question.socket == socket && !long_question.is_answered;
}

/// The head of the next answer, but for that of the long question.
bool receive_head(int socket, Head& head) {
  for (;;) {
    if (!receive_all(socket, &head, sizeof head)) return false;
    if (!is_asked_meanwhile(socket) || !answers_long_question(head.kind)) return true;
    long_question.is_answered = true;
    long_question.answer = head;
  }
}

/// The same for the long question itself.
bool receive_long_answer(int socket, Head& head) {
  long_question = {socket, false, {}};
  bool is_ready = false;
  while (!is_ready && !long_question.is_answered) is_ready = program::wait_for_input(socket);
  const bool is_here = long_question.is_answered;
  long_question.socket = -1;
  if (is_here) head = long_question.answer;
  return is_here || receive_all(socket, &head, sizeof head);
}

bool send_frame(FrameKind kind, const void* payload, std::size_t bytes) {
  if (self.control < 0) return true;
  const Locked guard(control_sending);
  const FrameHead head{kind, static_cast<std::uint32_t>(bytes)};
  return send_all(self.control, &head, sizeof head, payload, bytes);
}

[[noreturn]] void leave(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

/// The launcher is gone, or wants this process gone: nobody is left to tell.
std::string receive_frame(FrameKind wanted) {
  FrameHead head;
  if (!receive_all(self.control, &head, sizeof head)) leave(1);
  if (head.kind != wanted || head.bytes > most_frame_bytes) end_run({"the launcher says something unexpected"});
  std::string payload(head.bytes, '\0');
  if (!receive_all(self.control, payload.data(), payload.size())) leave(1);
  return payload;
}

/// Most likely that process has ended, which the launcher knows more about.
[[noreturn]] void end_without(ProcessId peer) {
  if (long_question.is_answered && long_question.answer.kind == WireKind::quit) end_worker();
  const LostPeer lost{index_of(peer)};
  send_frame(FrameKind::lost_peer, &lost, sizeof lost);
  leave(1);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void connect_to_others(const std::vector<std::string>& addresses, std::uint64_t fingerprint) {
  Hello hello;
  std::memcpy(hello.secret, secret, sizeof secret);
  hello.process = index_of(self.process);
  hello.fingerprint = fingerprint;
  for (std::uint32_t other = 0; other < processes(); ++other) {
    if (ProcessId{other} == self.process) continue;
    asking[other] = connect_to(addresses[other]);
    if (asking[other] < 0 || !send_all(asking[other], &hello, sizeof hello)) {
      end_run({"process ", Decimal(other), " cannot be reached at ", addresses[other].c_str(), ": ",
               std::strerror(errno), remedy_for(errno)});
    }
  }
}

void accept_others(std::uint64_t fingerprint) {
  Admission admission(listener, secret);
  constexpr int round_ms = 1000;
  for (std::uint32_t missing = processes() - 1; missing > 0;) {
    const auto arrival = admission.next(round_ms);
    if (admission.error() != 0) {
      end_run({"no connection can be accepted: ", std::strerror(admission.error()), remedy_for(admission.error())});
    }
    if (!arrival) continue;
    const Hello& hello = arrival->hello;
    if (hello.process >= processes() || answering[hello.process] >= 0) {
      close(arrival->socket);
      continue;
    }
    if (hello.fingerprint != fingerprint) {
      end_run({"the program or a library lies at other addresses in process ", Decimal(hello.process),
               ". All hosts need the same program and libraries, and address randomisation has to be off."});
    }
    answering[hello.process] = arrival->socket;
    --missing;
  }
}

void answer_launcher() {
  FrameHead head;
  if (!receive_all(self.control, &head, sizeof head)) leave(1);
  if (head.kind != FrameKind::ping || head.bytes != 0) end_run({"the launcher says something unexpected"});
  send_frame(FrameKind::pong, nullptr, 0);
}

/// On an emulated network: messages that are here before their time. One process's come in the order in which it sent
/// them, also those that the network does not delay.
struct Underway {
  Head head;
  std::vector<std::byte> payload;
};
std::vector<std::deque<Underway>> underway;  ///< by process
std::size_t underway_count = 0;

/// Whoever closes its connection has ended, or died: the launcher sees which, and tells everybody. Here it only has no
/// more questions.
void forget_process(ProcessId from) {
  int& socket = answering[index_of(from)];
  close(socket);
  socket = -1;
}

/// When the last answer went off: on an emulated network when it is on the wire, which the work of sending it follows.
std::uint64_t answered_ns = 0;

/// `arrived_ns`: when the message was here.
void handle_from(ProcessId from, const Head& head, const std::byte* payload, std::uint64_t arrived_ns) {
  const Locked guard(handling);
  handle(from, head, payload);
  if (head.kind != WireKind::page_request || self.layout.node_of(from) == own_node()) return;
  __atomic_fetch_add(&tally.pages_served, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&tally.page_service_ns, answered_ns - arrived_ns, __ATOMIC_RELAXED);
}

/// Of the messages underway, which one is the next, and when.
struct Next {
  std::uint32_t from = 0;
  std::uint64_t due_ns = ~std::uint64_t{0};
};
Next next_underway() {
  Next next;
  for (std::uint32_t from = 0; from < underway.size(); ++from) {
    if (underway[from].empty()) continue;
    const std::uint64_t due = arrival_of(underway[from].front().head.ticket);
    if (due < next.due_ns) next = {from, due};
  }
  return next;
}

void handle_what_is_due() {
  while (underway_count > 0) {
    const Next next = next_underway();
    if (next.due_ns > now_ns()) return;
    const Underway message = std::move(underway[next.from].front());
    underway[next.from].pop_front();
    --underway_count;
    take_from_wire(message.head.ticket);
    handle_from(ProcessId{next.from}, message.head, message.payload.data(), next.due_ns);
  }
}

void answer_process(ProcessId from) {
  const int socket = answering[index_of(from)];
  static std::byte payload[most_payload];
  const std::uint64_t received_ns = now_ns();
  Head head;
  if (!receive_all(socket, &head, sizeof head)) return forget_process(from);
  if (head.bytes > most_payload || !receive_all(socket, payload, head.bytes)) return forget_process(from);
  if (head.ticket != 0 || !underway[index_of(from)].empty()) {
    underway[index_of(from)].push_back({head, {payload, payload + head.bytes}});
    ++underway_count;
    return;
  }
  handle_from(from, head, payload, received_ns);
}

/// How long the service thread may sleep: until shortly before the next message is due. Null if none is underway.
const timespec* time_to_next(timespec& time) {
  if (underway_count == 0) return nullptr;
  const std::uint64_t now = now_ns();
  const std::uint64_t woken = next_underway().due_ns - wake_up_ns;
  const std::uint64_t left = woken > now ? woken - now : 0;
  time = {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  return &time;
}

}  // namespace

void meet_launcher() {
  const char* number = std::getenv(control_variable);
  if (number == nullptr) {
    self.node_memory = memfd_create("sdsm", MFD_CLOEXEC);
    if (self.node_memory < 0) end_run({"there is no memory for the program"});
    return;
  }
  self.control = std::atoi(number);
  fcntl(self.control, F_SETFD, FD_CLOEXEC);
  Welcome welcome;
  const std::string payload = receive_frame(FrameKind::welcome);
  if (payload.size() != sizeof welcome) end_run({"the launcher is of another version than the run-time"});
  std::memcpy(&welcome, payload.data(), sizeof welcome);
  if (welcome.version != control_version) end_run({"the launcher is of another version than the run-time"});
  self.process = ProcessId{welcome.process};
  self.layout = {welcome.nodes, welcome.threads_per_node};
  self.placement = welcome.placement;
  self.node_memory = welcome.node_memory;
  fcntl(self.node_memory, F_SETFD, FD_CLOEXEC);
  is_logging = welcome.wants_page_log != 0;
  start_emulation(welcome.emulation);
  std::memcpy(secret, welcome.secret, sizeof secret);
  std::string address;
  listener = listen_on(welcome.transport, welcome.listen_host, address);
  if (listener < 0) {
    end_run({"no socket to listen on ", welcome.listen_host, ": ", std::strerror(errno), remedy_for(errno)});
  }
  send_frame(FrameKind::listening, address.data(), address.size());
}

void meet_others(std::uint64_t fingerprint) {
  if (self.control < 0) return;
  const std::vector<std::string> addresses = lines_of(receive_frame(FrameKind::peers));
  if (addresses.size() != processes()) end_run({"the launcher tells too few addresses"});
  asking.assign(processes(), -1);
  answering.assign(processes(), -1);
  underway.resize(processes());
  connect_to_others(addresses, fingerprint);
  accept_others(fingerprint);
  send_frame(FrameKind::connected, nullptr, 0);
  receive_frame(FrameKind::go);
}

void serve() {
  const int events = to_high_number(epoll_create1(EPOLL_CLOEXEC));
  const auto need = [](bool is_done) {
    if (!is_done) end_run({"the sockets cannot be waited for: ", std::strerror(errno), remedy_for(errno)});
  };
  need(events >= 0);
  const auto listen_to = [&](int socket, std::uint32_t number) {
    if (socket < 0) return;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = number;
    need(epoll_ctl(events, EPOLL_CTL_ADD, socket, &event) == 0);
  };
  for (std::uint32_t other = 0; other < answering.size(); ++other) listen_to(answering[other], other);
  listen_to(self.control, processes());
  for (;;) {
    epoll_event ready[16];
    timespec time;
    const timespec* wait = time_to_next(time);
    const int count =
        wait == nullptr ? epoll_wait(events, ready, 16, -1) : epoll_pwait2(events, ready, 16, wait, nullptr);
    for (int i = 0; i < count; ++i) {
      if (ready[i].data.u32 == processes()) {
        answer_launcher();
      } else {
        answer_process(ProcessId{ready[i].data.u32});
      }
    }
    handle_what_is_due();
  }
}

namespace {

void ask_self(const Head& head, const void* payload, Mailbox& own, Wait wait) {
  Mailbox* outer = nullptr;
  {
    const Locked guard(handling);
    outer = std::exchange(mailbox, &own);
    handle(self.process, head, static_cast<const std::byte*>(payload));
    if (own.is_full.load(std::memory_order_relaxed) != 0) {
      mailbox = outer;
      return;
    }
  }
  if (wait == Wait::with_handlers) {
    const program::AdmittedSignals admitted;
    own.is_full.wait(0, std::memory_order_acquire);
  } else {
    own.is_full.wait(0, std::memory_order_acquire);
  }
  const Locked guard(handling);
  mailbox = outer;
}

}  // namespace

namespace {

class LongWait {
 public:
  LongWait(WireKind kind, Wait wait) : is_long_(wait == Wait::with_handlers) {
    if (is_long_) long_wait = kind;
  }
  ~LongWait() {
    if (is_long_) long_wait.reset();
  }
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

 private:
  bool is_long_;
};

}  // namespace

bool is_at_barrier() {
  return long_wait == WireKind::barrier_arrive;
}

Head answer_of_barrier() {
  long_wait.reset();
  const LongQuestion open = std::exchange(long_question, {});
  Head head = open.answer;
  if (!open.is_answered && !receive_all(open.socket, &head, sizeof head)) end_without(barrier_master);
  return head;
}

Head ask(ProcessId to, Head head, const void* payload, void* answer_payload, Wait wait) {
  const program::HeldSignals held;
  if (long_wait && waits_for_others(head.kind)) {
    end_run(
        {"a handler of a signal takes a lock or comes to a barrier while its thread waits for one. Handlers may touch "
         "shared memory; let the thread itself do the rest"});
  }
  const LongWait while_asking(head.kind, wait);
  if (to == self.process) {
    Mailbox own;
    ask_self(head, payload, own, wait);
    if (own.head.bytes > 0) std::memcpy(answer_payload, own.payload, own.head.bytes);
    return own.head;
  }
  const int socket = asking[index_of(to)];
  head.ticket = put_on_wire(to, payload_of(head));
  Head reply;
  const auto receive = wait == Wait::with_handlers ? receive_long_answer : receive_head;
  if (!send_all(socket, &head, sizeof head, payload, head.bytes) || !receive(socket, reply) ||
      !receive_all(socket, answer_payload, reply.bytes)) {
    end_without(to);
  }
  wait_for_arrival(reply.ticket);
  return reply;
}

/// How long a fault looks for its page before it goes to sleep, from which to be woken takes longer than the page does.
/// Where processes share processors, it would keep its home from one.
std::uint64_t fetch_patience_ns() {
  static const bool has_own_processor = [] {
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
           static_cast<std::uint32_t>(CPU_COUNT(&allowed)) >= processes();
  }();
  return has_own_processor && !is_emulating() ? 50'000 : 0;
}

void ask_for_page(ProcessId home, std::uint64_t address, std::byte* page) {
  const int socket = asking[index_of(home)];
  Head head{.kind = WireKind::page_request, .address = address};
  head.ticket = put_on_wire(home, payload_of(head));
  Head reply;
  // The answer's size is known, so one call takes all of it: unless another answer may come before.
  if (!send_all(socket, &head, sizeof head) ||
      !(is_asked_meanwhile(socket)
            ? receive_head(socket, reply) && receive_all(socket, page, most_payload)
            : receive_both(socket, &reply, sizeof reply, page, most_payload, fetch_patience_ns()))) {
    end_without(home);
  }
  wait_for_arrival(reply.ticket);
}

void tell(ProcessId to, Head head, const void* payload) {
  const program::HeldSignals held;
  if (to == self.process) {
    const Locked guard(handling);
    return handle(to, head, static_cast<const std::byte*>(payload));
  }
  head.ticket = put_on_wire(to, payload_of(head));
  if (!send_all(asking[index_of(to)], &head, sizeof head, payload, head.bytes)) end_without(to);
}

void answer(ProcessId to, const Head& head, const void* payload) {
  if (to == self.process) {
    Mailbox& asked = *mailbox;
    asked.head = head;
    if (head.bytes > 0) std::memcpy(asked.payload, payload, head.bytes);
    asked.is_full.store(1, std::memory_order_release);
    asked.is_full.notify_one();
    return;
  }
  // One that cannot be answered is gone, which the service thread will notice.
  Head stamped = head;
  stamped.ticket = put_on_wire(to, payload_of(head));
  const bool is_on_wire = stamped.ticket != 0;
  if (is_on_wire) answered_ns = now_ns();
  send_all(answering[index_of(to)], &stamped, sizeof stamped, payload, head.bytes);
  if (!is_on_wire) answered_ns = now_ns();
}

void while_nothing_is_handled(void (*function)(std::uint32_t), std::uint32_t argument) {
  const Locked guard(handling);
  function(argument);
}

void count_message(ProcessId to, MessageKind kind, std::uint64_t bytes) {
  if (self.layout.node_of(to) == own_node()) return;
  ++tally.messages[static_cast<std::size_t>(kind)];
  ++tally.messages_sent;
  tally.bytes_sent += bytes;
}

void count_served(ProcessId to, std::uint64_t bytes) {
  if (self.layout.node_of(to) == own_node()) return;
  __atomic_fetch_add(&tally.served, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&tally.served_bytes, bytes, __ATOMIC_RELAXED);
}

void count_served(ProcessId to, MessageKind kind, std::uint64_t bytes) {
  if (self.layout.node_of(to) == own_node()) return;
  __atomic_fetch_add(&tally.messages[static_cast<std::size_t>(kind)], 1, __ATOMIC_RELAXED);
  count_served(to, bytes);
}

void leave_others() {
  send_frame(FrameKind::leaving, nullptr, 0);
}

void send_to_launcher(FrameKind kind, const void* payload, std::size_t bytes) {
  send_frame(kind, payload, bytes);
}

void send_result(const Result& result) {
  if (is_logging) send_page_log();
  send_frame(FrameKind::result, &result, sizeof result);
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
    send_frame(FrameKind::failed, text, length);
  }
  leave(1);
}

}  // namespace sdsm::program
