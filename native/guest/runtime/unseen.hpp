/// Counts what the program does past the engine: memory that is not shared, clock readings that are no events. So a
/// trace's reader knows what it leaves out.
#pragma once

#include <cstdint>

namespace sdsm::program {

struct UnseenCalls {
  const char* call = nullptr;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  ///< of memory that came by them
};

enum class UnseenCall : std::uint8_t {
  mmap,
  mmap_file,
  dlopen,
  mremap,
  sbrk,
  clock_gettime,  ///< of a clock that no engine answers: another process's, or a device's
  rdtsc,          ///< instructions that the program has, whether or not it comes to them
};
inline constexpr unsigned unseen_call_count = static_cast<unsigned>(UnseenCall::rdtsc) + 1;

/// Counts a call that returns to `caller`, if that is the program's. Any thread may call it, at any time.
void count_unseen(UnseenCall call, std::uintptr_t caller, std::uint64_t bytes = 0);

/// Counts what the program is known to have done.
void add_unseen(UnseenCall call, std::uint64_t bytes);

/// What was counted so far.
UnseenCalls unseen_calls(UnseenCall call);

}  // namespace sdsm::program
