#include "native/dsm/flags.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "native/dsm/answering.hpp"
#include "native/dsm/asking.hpp"
#include "native/dsm/coherence.hpp"
#include "native/dsm/counting.hpp"
#include "native/dsm/stacks.hpp"
#include "native/program/signals.hpp"

namespace sdsm::dsm {
namespace {

constinit std::atomic<bool> flag_mode = false;
/// Somebody waits for what this process may have stored.
constinit std::atomic<bool> is_flush_wanted = false;
/// The application thread; 0: it is not looked at yet.
constinit std::atomic<pthread_t> watched = 0;

/// Where a thread was, and a hash of what it had in registers and at the top of its stack.
struct Sample {
  std::uint64_t place = 0;
  std::uint64_t contents = 0;
};
struct Samples {
  static constexpr std::size_t most = 16;
  Sample ring[most];
  std::size_t next = 0;
  std::uint64_t events = 0;  ///< of the protocol, up to which they count
};
struct Noticing {
  bool has_told = false;
  Samples samples;
};
constinit Noticing noticing GUARDED_BY(application);

std::uint64_t events_so_far() REQUIRES(application) {
  return asked.traps + asked.atomics + asked.barriers + asked.locks;
}

Sample sample_of(const greg_t* registers) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t number) { hash = (hash ^ number) * 0x100000001b3; };
  for (int i = REG_R8; i <= REG_RSP; ++i) add(static_cast<std::uint64_t>(registers[i]));
  constexpr std::uintptr_t below = 128;  // the ABI's red zone
  constexpr std::uintptr_t looked_at = 512;
  const program::AddressRange stack = stack_of(index_of(self.process));
  const auto top = static_cast<std::uintptr_t>(registers[REG_RSP]) & ~std::uintptr_t{7};
  if (stack.holds(top - below) && stack.end - top >= looked_at) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(top - below);
    for (std::size_t i = 0; i < looked_at / sizeof *words; ++i) add(words[i]);
  }
  return {static_cast<std::uint64_t>(registers[REG_RIP]), hash};
}

/// Nothing has changed since some other look, and no event of the protocol has come between.
bool waits(const greg_t* registers) REQUIRES(application) {
  Samples& samples = noticing.samples;
  if (samples.events != events_so_far()) samples = {.ring = {}, .next = 0, .events = events_so_far()};
  const Sample now = sample_of(registers);
  for (const Sample& before : samples.ring) {
    if (before.place == now.place && before.contents == now.contents) return true;
  }
  samples.ring[samples.next++ % Samples::most] = now;
  return false;
}

void tell_others() REQUIRES(application) {
  flag_mode = true;
  noticing.has_told = true;
  for (std::uint32_t i = 0; i < processes(); ++i) {
    if (ProcessId{i} != self.process) ask(ProcessId{i}, {.kind = WireKind::flag_mode});
  }
}

void end_wait() REQUIRES(application) {
  noticing.samples.events = ~std::uint64_t{0};
  ++asked.waits;
  tell_others();
  flush(Sync::acquire);
  drop(Sync::acquire);
}

void on_look(int /*signal*/, siginfo_t* info, void* context) {
  if (!application.is_taken() || program::HeldSignals::are_held()) return;
  application.check();
  const program::BlockedSignals blocked;
  const int saved_errno = errno;
  if (is_flush_wanted.exchange(false)) flush(Sync::release);
  if (info->si_code == SI_TIMER && waits(static_cast<ucontext_t*>(context)->uc_mcontext.gregs)) end_wait();
  errno = saved_errno;
}

}  // namespace

bool is_in_flag_mode() {
  return flag_mode.load(std::memory_order_acquire);
}

void enter_flag_mode() {
  if (!noticing.has_told) tell_others();
}

void notice_waits() {
  if (!takes_faults(self.layout)) return;
  program::take_signal(program::preemption_signal(), on_look, SA_RESTART);
  watched = pthread_self();
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = program::preemption_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer;
  // A system without such timers notices no waits, and does all else.
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return;
  constexpr long interval_ns = 2'000'000;
  const itimerspec every{{0, interval_ns}, {0, interval_ns}};
  timer_settime(timer, 0, &every, nullptr);
}

void hear_of_flags(ProcessId from) {
  flag_mode = true;
  is_flush_wanted = true;
  if (const pthread_t thread = watched; thread != 0) pthread_kill(thread, program::preemption_signal());
  answer_value(from, 0);
}

}  // namespace sdsm::dsm
