/// In place of libsdsm-run.so, for tests of the launcher: speaks its protocol, shares nothing, and goes wrong on
/// demand. FAKE_RUN="lossy network" or "few processors" has such results, and FAKE_RUN="STAGE ACTION PROCESS" makes one
/// process do something at a stage of the start:
///   stages   start (before welcome is read), listening, connected (before each is said), go (after it), result
///   actions  kill, segv, exit (with status 3 and no word), hang, stay (and answer pings), fail, garbage, misplaced,
///   huge, close, exec,
///            lost (says that it lost process 1, as all others do at the same stage), orphan (leaves a process behind)
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "native/dsm/wire/control.hpp"

using namespace sdsm::dsm;

namespace {

int control = -1;
Welcome self;

void say(FrameKind kind, const void* payload = nullptr, std::uint32_t bytes = 0) {
  const FrameHead head{kind, bytes};
  if (write(control, &head, sizeof head) != sizeof head || (bytes > 0 && write(control, payload, bytes) != bytes)) {
    _exit(1);
  }
}

void read_all(void* to, std::size_t bytes) {
  for (char* at = static_cast<char*>(to); bytes > 0;) {
    const ssize_t count = read(control, at, bytes);
    if (count <= 0) _exit(1);
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

/// Waits for a frame of this kind; answers pings meanwhile. Its payload's begin goes to `payload`.
void wait_for(FrameKind kind, char* payload = nullptr, std::size_t most = 0) {
  for (;;) {
    FrameHead head;
    read_all(&head, sizeof head);
    static char buffer[most_frame_bytes];
    read_all(buffer, head.bytes);
    if (head.kind == FrameKind::ping) say(FrameKind::pong);
    if (head.kind != kind) continue;
    if (payload) std::memcpy(payload, buffer, head.bytes < most ? head.bytes : most);
    return;
  }
}

[[noreturn]] void hang() {
  for (;;) pause();
}

void act(const char* action) {
  const auto is = [&](const char* name) { return std::strcmp(action, name) == 0; };
  if (is("kill")) raise(SIGKILL);
  if (is("segv")) raise(SIGSEGV);
  if (is("pipe")) raise(SIGPIPE);
  if (is("exit")) _exit(3);
  if (is("hang")) hang();
  if (is("exec")) execl("/bin/true", "true", nullptr);
  if (is("fail")) {
    say(FrameKind::failed, "no more memory\n", 15);
    _exit(1);
  }
  if (is("garbage")) {
    if (write(control, "these are no frames, but words", 30) != 30) _exit(1);
    hang();
  }
  if (is("misplaced")) {
    say(FrameKind::welcome);
    hang();
  }
  if (is("huge")) {
    const FrameHead head{FrameKind::failed, ~std::uint32_t{0}};
    if (write(control, &head, sizeof head) != sizeof head) _exit(1);
    hang();
  }
  if (is("stay")) {
    for (;;) wait_for(FrameKind::welcome);
  }
  if (is("close")) {
    close(control);
    hang();
  }
  if (is("orphan")) {
    if (fork() == 0) {
      setsid();
      hang();
    }
    raise(SIGKILL);
  }
}

void at(const char* stage) {
  const char* plan = std::getenv("FAKE_RUN");
  char wanted[20];
  char action[20];
  unsigned process = 0;
  if (!plan || std::sscanf(plan, "%19s %19s %u", wanted, action, &process) != 3 || std::strcmp(wanted, stage) != 0)
    return;
  if (std::strcmp(action, "lost") == 0) {
    // The consequence comes before its cause.
    if (self.process == 1) {
      usleep(400000);
      raise(SIGKILL);
    }
    const LostPeer lost{1};
    say(FrameKind::lost_peer, &lost, sizeof lost);
    _exit(1);
  }
  if (self.process == process) act(action);
}

/// Figures that a test can foresee: the time of thread t is 2 + t s, of which a second in all is not computing.
Tally tally() {
  Tally tally{};
  tally.now_ns = (2 + self.process) * 1000000000ULL;
  tally.faults[static_cast<int>(sdsm::FaultKind::RUMR)] = 10 + self.process;
  tally.spent(sdsm::spent_on(sdsm::FaultKind::RUMR)) = 500000000;
  tally.messages_by_kind[0] = 10 + self.process;
  tally.messages = 20;
  tally.bytes = 4096;
  tally.diffs = 3;
  tally.diff_bytes = 24;
  tally.barriers = 7;
  tally.locks = 2;
  tally.traps = 11;
  tally.spent(sdsm::Spent::barrier) = 400000000;
  tally.spent(sdsm::Spent::lock) = 100000000;
  return tally;
}

void say_result() {
  at("result");
  Result result;
  result.region = tally();
  result.whole = tally();
  result.whole.now_ns += 1000000000;
  result.clock_calls = 2;
  const char* plan = std::getenv("FAKE_RUN");
  result.processors = plan && std::strcmp(plan, "few processors") == 0 ? 2 : 1000;
  if (plan && std::strcmp(plan, "lossy network") == 0) result.retransmissions = 5 + self.process;
  say(FrameKind::result, &result, sizeof result);
}

__attribute__((constructor)) void begin() {
  const char* number = std::getenv(control_variable);
  if (!number) return;
  control = std::atoi(number);
  // What the program starts inherits the environment, and is none of the run's.
  if (fcntl(control, F_SETFD, FD_CLOEXEC) != 0) {
    control = -1;
    return;
  }
  // Without the launcher's word it knows its number by nothing: who hangs at the start are all.
  if (const char* plan = std::getenv("FAKE_RUN"); plan && std::strncmp(plan, "start ", 6) == 0) at("start");
  wait_for(FrameKind::welcome, reinterpret_cast<char*>(&self), sizeof self);
  if (self.version != control_version || self.node_memory < 0 || ftruncate(self.node_memory, 4096) != 0) _exit(1);
  at("listening");
  char address[30];
  say(FrameKind::listening, address, static_cast<std::uint32_t>(std::sprintf(address, "address-%u", self.process)));
  char peers[4096] = "";
  wait_for(FrameKind::peers, peers, sizeof peers - 1);
  std::uint32_t lines = 0;
  for (const char* sign = peers; *sign; ++sign) lines += *sign == '\n';
  if (lines != self.nodes * self.threads_per_node || std::strncmp(peers, "address-0\n", 10) != 0) _exit(1);
  at("connected");
  say(FrameKind::connected);
  wait_for(FrameKind::go);
  at("go");
  if (self.process == 0) return;
  say_result();
  _exit(0);
}

__attribute__((destructor)) void end() {
  if (control < 0) return;
  say_result();
}

}  // namespace
