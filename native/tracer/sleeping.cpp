/// A thread that sleeps or yields waits for something that another has to do: it lets the others go on, and its virtual
/// clock moves on by the time that it wanted to sleep. Where no other thread can go on, it sleeps.
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

#include "native/gomp/entry.hpp"
#include "native/tracer/start.hpp"
#include "native/tracer/team.hpp"
#include "native/tracer/threads.hpp"
#include "native/tracer/touch.hpp"

using namespace sdsm::tracer;

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

bool others_can_go_on() {
  if (running == nullptr || is_inside || !is_in_team()) return false;
  if (pthread_equal(pthread_self(), running->posix_thread) == 0) return false;
  for (std::uint32_t i = 0; i < thread_count(); ++i) {
    const VirtualThread& other = thread_of(i);
    if (&other != running && other.status == ThreadStatus::runnable) return true;
  }
  return false;
}

/// False if nobody else can go on: then nothing has happened.
bool let_others_go_on(std::uint64_t nanoseconds) {
  if (!others_can_go_on()) return false;
  yield(*running, nanoseconds);
  return true;
}

}  // namespace

SDSM_ENTRY int nanosleep(const timespec* wanted, timespec* left) {
  static const auto real = reinterpret_cast<int (*)(const timespec*, timespec*)>(dlsym(RTLD_NEXT, "nanosleep"));
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
  static const auto real = reinterpret_cast<int (*)(useconds_t)>(dlsym(RTLD_NEXT, "usleep"));
  return let_others_go_on(std::uint64_t{microseconds} * 1000) ? 0 : real(microseconds);
}

SDSM_ENTRY unsigned sleep(unsigned seconds) {
  static const auto real = reinterpret_cast<unsigned (*)(unsigned)>(dlsym(RTLD_NEXT, "sleep"));
  return let_others_go_on(seconds * second_ns) ? 0 : real(seconds);
}

SDSM_ENTRY int sched_yield() noexcept {
  static const auto real = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "sched_yield"));
  return let_others_go_on(0) ? 0 : real();
}
