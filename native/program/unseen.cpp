#include "native/program/unseen.hpp"

#include <sys/time.h>

#include <atomic>
#include <ctime>

#include "native/gomp/entry.hpp"
#include "native/program/next_function.hpp"
#include "native/program/program_image.hpp"

namespace sdsm::program {
namespace {

constexpr const char* names[unseen_call_count] = {"mmap",          "mmap of a file", "dlopen",       "mremap", "sbrk",
                                                  "clock_gettime", "gettimeofday",   "timespec_get", "time",   "clock"};

struct Counter {
  std::atomic<std::uint64_t> calls = 0;
  std::atomic<std::uint64_t> bytes = 0;
};
constinit Counter counters[unseen_call_count];

}  // namespace

void count_unseen(UnseenCall call, std::uintptr_t caller, std::uint64_t bytes) {
  if (program_image.is_program(caller)) add_unseen(call, bytes);
}

void add_unseen(UnseenCall call, std::uint64_t bytes) {
  Counter& counter = counters[static_cast<unsigned>(call)];
  counter.calls.fetch_add(1, std::memory_order_relaxed);
  counter.bytes.fetch_add(bytes, std::memory_order_relaxed);
}

UnseenCalls unseen_calls(UnseenCall call) {
  const auto number = static_cast<unsigned>(call);
  const Counter& counter = counters[number];
  return {names[number], counter.calls.load(std::memory_order_relaxed), counter.bytes.load(std::memory_order_relaxed)};
}

}  // namespace sdsm::program

using namespace sdsm::program;

// Clocks. (clock_gettime stands in kernel_buffers.cpp.)
SDSM_ENTRY int gettimeofday(timeval* time, void* zone) noexcept {
  static constinit NextFunction<int(timeval*, void*)> real{"gettimeofday"};
  count_unseen(UnseenCall::gettimeofday, SDSM_CALLER);
  return real(time, zone);
}
SDSM_ENTRY int timespec_get(timespec* time, int base) noexcept {
  static constinit NextFunction<int(timespec*, int)> real{"timespec_get"};
  count_unseen(UnseenCall::timespec_get, SDSM_CALLER);
  return real(time, base);
}
SDSM_ENTRY std::time_t time(std::time_t* seconds) noexcept {
  static constinit NextFunction<std::time_t(std::time_t*)> real{"time"};
  count_unseen(UnseenCall::time, SDSM_CALLER);
  return real(seconds);
}
SDSM_ENTRY std::clock_t clock() noexcept {
  static constinit NextFunction<std::clock_t()> real{"clock"};
  count_unseen(UnseenCall::clock, SDSM_CALLER);
  return real();
}
