#include "native/tracer/watchdog.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include <cerrno>
#include <cstdint>

#include "native/program/real_pthread.hpp"
#include "native/program/signals.hpp"
#include "native/tracer/options.hpp"
#include "native/tracer/schedule_log.hpp"
#include "native/tracer/team.hpp"
#include "native/tracer/threads.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

constexpr long look_every_ns = 10'000'000;
/// Looks without a change of thread before the running one is sampled: most intervals are shorter.
constexpr unsigned patient_looks = 5;
/// Samples that must look alike, and samples after which a thread yields whatever it does.
constexpr unsigned alike_samples = 5;
constexpr unsigned most_samples = 1000;

/// What a loop that only waits leaves unchanged: its registers, and where it is.
/// A loop that computes counts somewhere.
struct Sample {
  greg_t values[16] = {};
  greg_t instruction = 0;
};

constexpr greg_t loop_bytes = 256;

bool looks_alike(const Sample& a, const Sample& b) {
  unsigned different = 0;
  for (unsigned i = 0; i < 16; ++i) different += a.values[i] != b.values[i] ? 1 : 0;
  const greg_t distance = a.instruction - b.instruction;
  return different == 0 && distance < loop_bytes && distance > -loop_bytes;
}

Sample last;
std::uint64_t last_switches = 0;
unsigned alike = 0;
unsigned samples = 0;

Sample sample_of(const ucontext_t& machine) {
  const auto& registers = machine.uc_mcontext.gregs;
  Sample sample;
  static_assert(REG_R8 == 0 && REG_RSP == 15, "the first 16 are the general registers");
  for (unsigned i = 0; i < 16; ++i) sample.values[i] = registers[i];
  sample.instruction = registers[REG_RIP];
  return sample;
}

/// In the thread that runs for long.
void on_preemption(int /*signal*/, siginfo_t* /*info*/, void* context) {
  VirtualThread& self = *running;
  if (is_inside || !is_in_team() || pthread_equal(pthread_self(), self.posix_thread) == 0) return;
  const Sample now = sample_of(*static_cast<const ucontext_t*>(context));
  if (switch_count() != last_switches) {
    last_switches = switch_count();
    alike = samples = 0;
  }
  alike = looks_alike(now, last) ? alike + 1 : 0;
  last = now;
  if (alike < alike_samples && ++samples < most_samples) return;
  alike = samples = 0;
  const int saved_errno = errno;
  is_inside = true;
  self.stopwatch.pause();
  preempt(self);
  self.stopwatch.resume();
  is_inside = false;
  errno = saved_errno;
}

void* watch(void* /*unused*/) {
  std::uint64_t seen = 0;
  unsigned looks = 0;
  const timespec pause{0, look_every_ns};
  for (;;) {
    // The raw call: `nanosleep` is a scheduling point of virtual threads.
    syscall(SYS_nanosleep, &pause, nullptr);
    const std::uint64_t now = switch_count();
    looks = now == seen ? looks + 1 : 0;
    seen = now;
    if (looks >= patient_looks && !is_inside && is_in_team()) pthread_kill(running->posix_thread, preemption_signal());
  }
}

}  // namespace

void start_watchdog() {
  struct sigaction action {};
  // On the signal stack, as another thread may run in between; a system call goes on as if nothing had happened.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  action.sa_sigaction = on_preemption;
  sigfillset(&action.sa_mask);
  real_sigaction(preemption_signal(), &action, nullptr);
  // The program's signals are for the program's threads.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t thread{};
  if (real_pthread_create(&thread, nullptr, watch, nullptr) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

}  // namespace sdsm::tracer
