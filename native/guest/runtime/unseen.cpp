#include "native/guest/runtime/unseen.hpp"

#include <atomic>

#include "native/guest/runtime/program_image.hpp"

namespace sdsm::program {
namespace {

constexpr const char* names[unseen_call_count] = {"mmap", "mmap of a file", "dlopen", "mremap",
                                                  "sbrk", "clock_gettime",  "rdtsc"};

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
