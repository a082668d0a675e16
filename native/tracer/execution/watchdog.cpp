#include "native/tracer/execution/watchdog.hpp"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "native/guest/kernel/processes.hpp"
#include "native/guest/runtime/signals.hpp"
#include "native/tracer/execution/schedule_log.hpp"
#include "native/tracer/execution/team.hpp"
#include "native/tracer/execution/threads.hpp"
#include "native/tracer/execution/wait_loops.hpp"
#include "native/tracer/record/options.hpp"

namespace sdsm::tracer {
using namespace program;
namespace {

constexpr long check_every_ns = 2'000'000;
/// Whether the running thread is sampled after so many checks without a change of thread: twice soon, as it may wait
/// for a flag, then now and then.
constexpr bool is_time_for_sample(unsigned checks) {
  return checks == 2 || checks == 3 || (checks > 0 && checks % 5 == 0);
}
/// Samples that must be alike, and samples after which a thread yields whatever it does.
constexpr unsigned alike_samples = 5;
constexpr unsigned most_samples = 1000;
/// Later passes, where the first one interrupted the thread in this interval: late rather than early, as what others
/// find then may be the interval's work.
constexpr unsigned most_samples_if_logged = 50;

/// What a loop that only waits leaves unchanged: its registers, and where it is.
/// A loop that computes counts somewhere.
struct Sample {
  greg_t values[16] = {};
  greg_t instruction = 0;
};

constexpr greg_t loop_bytes = 256;

bool is_near_to(const Sample& a, const Sample& b) {
  const greg_t distance = a.instruction - b.instruction;
  return distance < loop_bytes && distance > -loop_bytes;
}

bool are_alike(const Sample& a, const Sample& b) {
  return is_near_to(a, b) && std::memcmp(a.values, b.values, sizeof a.values) == 0;
}

/// What the samples of the thread that runs have shown since it began to.
struct Samples {
  Sample last;
  std::uint64_t switches = 0;
  unsigned alike = 0;  ///< in a row
  unsigned taken = 0;
  unsigned next_search = 0;  ///< in numbers of samples, as `taken`
  unsigned between_searches = 0;
};
constinit Samples samples GUARDED_BY(turn);

Sample sample_of(const ucontext_t& machine) {
  const auto& registers = machine.uc_mcontext.gregs;
  Sample sample;
  static_assert(REG_R8 == 0 && REG_RSP == 15, "the first 16 are the general registers");
  for (unsigned i = 0; i < 16; ++i) sample.values[i] = registers[i];
  sample.instruction = registers[REG_RIP];
  return sample;
}

/// Looking costs some hundred microseconds: less and less often while one thread runs.
bool is_search_due() REQUIRES(turn) {
  if (is_replay() || samples.taken < samples.next_search) return false;
  constexpr unsigned most_between = 64;
  samples.between_searches = samples.between_searches == 0             ? 1
                             : samples.between_searches < most_between ? 2 * samples.between_searches
                                                                       : most_between;
  samples.next_search = samples.taken + samples.between_searches;
  return true;
}

/// In the thread that runs for long.
void on_preemption(int /*signal*/, siginfo_t* /*info*/, void* context) {
  program::note_interruption();
  if (!turn.is_taken() || watched.is_inside || !watched.is_in_team) return;
  VirtualThread& self = running_thread();
  if (self.steps.purpose != Steps::Purpose::none || !others_can_go_on(self)) return;
  auto& machine = *static_cast<ucontext_t*>(context);
  const Sample now = sample_of(machine);
  if (watched.switches != samples.switches) {
    samples = {};
    samples.switches = watched.switches;
  }
  samples.alike = are_alike(now, samples.last) ? samples.alike + 1 : 0;
  samples.last = now;
  const bool is_logged = is_replay() && schedule_log::is_preempted_next(self.number, self.intervals);
  if (samples.alike < alike_samples && ++samples.taken < (is_logged ? most_samples_if_logged : most_samples)) {
    if (is_search_due()) find_wait_loop(self, machine, samples.between_searches);
    return;
  }
  samples.alike = samples.taken = 0;
  const int saved_errno = errno;
  set_inside(true);
  self.stopwatch.pause();
  preempt(self);
  self.stopwatch.resume();
  set_inside(false);
  errno = saved_errno;
}

void* watch(void* /*unused*/) {
  std::uint64_t seen = 0;
  unsigned checks = 0;
  const timespec pause{0, check_every_ns};
  const auto own_process = getpid();
  for (;;) {
    // The raw call: `nanosleep` is a scheduling point of virtual threads.
    syscall(SYS_nanosleep, &pause, nullptr);
    const std::uint64_t now = watched.switches;
    checks = now == seen ? checks + 1 : 0;
    seen = now;
    if (is_time_for_sample(checks) && !watched.is_inside && watched.is_in_team) {
      // Not pthread_kill(), which reads the thread's block: that may be shut by now.
      syscall(SYS_tgkill, own_process, watched.running.load()->kernel_id, preemption_signal());
    }
  }
}

}  // namespace

void start_watchdog() {
  take_signal(preemption_signal(), on_preemption, SA_RESTART);  // a system call goes on as if nothing had happened
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
