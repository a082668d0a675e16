#include "native/program/unseen.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <ctime>

#include "native/gomp/entry.hpp"
#include "native/program/next_function.hpp"
#include "native/program/program_image.hpp"
#include "native/program/raw_memory.hpp"

namespace sdsm::program {
namespace {

constexpr const char* names[unseen_call_count] = {"mmap",         "mmap of a file", "mremap", "sbrk", "clock_gettime",
                                                  "gettimeofday", "timespec_get",   "time",   "clock"};

struct Counter {
  std::atomic<std::uint64_t> calls = 0;
  std::atomic<std::uint64_t> bytes = 0;
};
constinit Counter counters[unseen_call_count];

}  // namespace

void count_unseen(UnseenCall call, std::uintptr_t caller, std::uint64_t bytes) {
  if (!program_image.is_program(caller)) return;
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

// Memory. The kernel's own calls, as the run-time maps memory before anything can be looked up.
SDSM_ENTRY void* mmap(void* wanted, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  const long memory = syscall(SYS_mmap, wanted, bytes, protection, flags, file, offset);
  if (memory != -1) {
    count_unseen((flags & MAP_ANONYMOUS) != 0 ? UnseenCall::mmap : UnseenCall::mmap_file, SDSM_CALLER, bytes);
  }
  return reinterpret_cast<void*>(memory);
}
SDSM_ENTRY void* mmap64(void* wanted, std::size_t bytes, int protection, int flags, int file, off64_t offset) noexcept
    SDSM_ALIAS(mmap);
SDSM_ENTRY void* mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags, ...) noexcept {
  const bool keeps_old = (flags & MREMAP_DONTUNMAP) != 0;
  va_list arguments;
  va_start(arguments, flags);
  // With MREMAP_DONTUNMAP alone it may be missing, and is a hint: what is no page's address was not meant.
  void* wanted = (flags & MREMAP_FIXED) != 0 || keeps_old ? va_arg(arguments, void*) : nullptr;
  if ((flags & MREMAP_FIXED) == 0 && reinterpret_cast<std::uintptr_t>(wanted) % page_bytes != 0) wanted = nullptr;
  va_end(arguments);
  const long memory = syscall(SYS_mremap, old, old_bytes, bytes, flags, wanted);
  const std::size_t mapped = keeps_old ? 0 : old_bytes;
  if (memory != -1 && bytes > mapped) count_unseen(UnseenCall::mremap, SDSM_CALLER, bytes - mapped);
  return reinterpret_cast<void*>(memory);
}
SDSM_ENTRY void* sbrk(std::intptr_t bytes) noexcept {
  static constinit NextFunction<void*(std::intptr_t)> real{"sbrk"};
  if (bytes > 0) count_unseen(UnseenCall::sbrk, SDSM_CALLER, static_cast<std::uint64_t>(bytes));
  return real(bytes);
}

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
