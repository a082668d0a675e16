/// Sleeping and yielding threads, which wait for another thread. Such a thread lets the others go on, and its virtual
/// clock advances by the time that it wanted to sleep. Where no other thread can go on, it sleeps.
#include <sched.h>
#include <threads.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "native/guest/kernel/c11_sleep.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/nanoseconds.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/signals.hpp"
#include "native/tracer/execution/program_clock.hpp"
#include "native/tracer/execution/team.hpp"
#include "native/tracer/execution/threads.hpp"
#include "native/tracer/execution/touch.hpp"
#include "native/tracer/record/start.hpp"

using namespace sdsm::tracer;

namespace {

/// The thread's clock goes on.
void note_sleep(std::uint64_t nanoseconds) {
  if (!turn.is_taken()) return;
  turn.check();
  if (is_clock_traced()) add_sleep(running_thread(), nanoseconds);
}

/// False if nobody else can go on: then nothing has happened.
bool let_others_go_on(std::uint64_t nanoseconds) {
  if (!turn.is_taken()) return false;
  turn.check();
  if (!is_clock_traced()) return false;
  VirtualThread& self = running_thread();
  if (!watched.is_in_team || !others_can_go_on(self)) return false;
  add_sleep(self, nanoseconds);
  yield(self, 0);
  return true;
}

/// As nanosleep(), whatever signals of the run-time come meanwhile.
int sleep_uninterrupted(timespec time, timespec& left) {
  SDSM_NEXT_FUNCTION NextFunction<int(const timespec*, timespec*)> real{"nanosleep"};
  const int error_before = errno;
  for (;;) {
    const std::uint32_t interruptions = times_interrupted();
    const std::uint32_t handled = times_handled();
    const int result = real(&time, &left);
    if (result == 0) errno = error_before;
    const bool is_interrupted = result != 0 && errno == EINTR;
    if (!is_interrupted || times_interrupted() == interruptions || times_handled() != handled) return result;
    time = left;
  }
}

/// Sleeps, and advances the thread's clock by the time slept. `left`: written upon EINTR.
int sleep_for(const timespec& time, timespec& left) {
  const int result = sleep_uninterrupted(time, left);
  if (result == 0) {
    note_sleep(ns_of(time));
  } else if (errno == EINTR) {
    note_sleep(ns_of(time) - ns_of(left));
  }
  return result;
}

}  // namespace

SDSM_ENTRY int nanosleep(const timespec* wanted, timespec* left) {
  // Copies, as the kernel cannot reach protected pages.
  timespec time = *wanted;
  if (time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < static_cast<long>(second_ns)) {
    if (let_others_go_on(ns_of(time))) return 0;
  }
  timespec rest{};
  const int result = sleep_for(time, rest);
  if (result != 0 && errno == EINTR && left != nullptr) *left = rest;
  return result;
}

SDSM_ENTRY int usleep(useconds_t microseconds) {
  constexpr useconds_t second_us = 1'000'000;
  timespec rest{};
  if (let_others_go_on(std::uint64_t{microseconds} * 1000)) return 0;
  return sleep_for({microseconds / second_us, static_cast<long>(microseconds % second_us) * 1000}, rest);
}

SDSM_ENTRY unsigned sleep(unsigned seconds) {
  timespec rest{};
  if (let_others_go_on(seconds * second_ns) || sleep_for({seconds, 0}, rest) == 0) return 0;
  return static_cast<unsigned>(rest.tv_sec);
}

SDSM_ENTRY int sched_yield() noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int()> real{"sched_yield"};
  return let_others_go_on(0) ? 0 : real();
}

SDSM_ENTRY int thrd_sleep(const timespec* wanted, timespec* left) {
  return sdsm::program::as_c11_sleep([&] { return nanosleep(wanted, left); });
}
SDSM_ENTRY void thrd_yield() {
  sched_yield();
}
