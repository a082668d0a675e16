/// A thread that sleeps or yields waits for something that another has to do: it lets the others go on, and its virtual
/// clock moves on by the time that it wanted to sleep. Where no other thread can go on, it sleeps.
#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

#include "native/gomp/entry.hpp"
#include "native/program/next_function.hpp"
#include "native/tracer/program_clock.hpp"
#include "native/tracer/start.hpp"
#include "native/tracer/team.hpp"
#include "native/tracer/threads.hpp"
#include "native/tracer/touch.hpp"

using namespace sdsm::tracer;

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

/// False if nobody else can go on: then nothing has happened, but that the thread's clock has gone on.
bool let_others_go_on(std::uint64_t nanoseconds) {
  if (!turn.is_taken()) return false;
  turn.check();
  if (!is_clock_traced()) return false;
  VirtualThread& self = running_thread();
  add_sleep(self, nanoseconds);
  if (!watched.is_in_team || !others_can_go_on(self)) return false;
  yield(self, 0);
  return true;
}

}  // namespace

SDSM_ENTRY int nanosleep(const timespec* wanted, timespec* left) {
  SDSM_NEXT_FUNCTION NextFunction<int(const timespec*, timespec*)> real{"nanosleep"};
  // Copies, as the kernel cannot reach protected pages.
  timespec time = *wanted;
  if (time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < static_cast<long>(second_ns)) {
    const std::uint64_t seconds = static_cast<std::uint64_t>(time.tv_sec);
    if (let_others_go_on(seconds * second_ns + static_cast<std::uint64_t>(time.tv_nsec))) return 0;
  }
  timespec rest{};
  const int result = real(&time, &rest);
  if (left != nullptr) *left = rest;
  return result;
}

SDSM_ENTRY int usleep(useconds_t microseconds) {
  SDSM_NEXT_FUNCTION NextFunction<int(useconds_t)> real{"usleep"};
  return let_others_go_on(std::uint64_t{microseconds} * 1000) ? 0 : real(microseconds);
}

SDSM_ENTRY unsigned sleep(unsigned seconds) {
  SDSM_NEXT_FUNCTION NextFunction<unsigned(unsigned)> real{"sleep"};
  return let_others_go_on(seconds * second_ns) ? 0 : real(seconds);
}

SDSM_ENTRY int sched_yield() noexcept {
  SDSM_NEXT_FUNCTION NextFunction<int()> real{"sched_yield"};
  return let_others_go_on(0) ? 0 : real();
}
