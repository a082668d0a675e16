/// System calls on the program's memory. They fail on protected pages instead of trapping (EFAULT), so the run-time
/// touches first what the kernel will read or write, as the program would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/kernel_call.hpp"

namespace sdsm::program {

/// Whether the engine manages the memory there.
bool is_shared(std::uintptr_t address);

/// The arguments of a system call, or of a function with the same ones.
struct SystemCall : KernelArguments {
  std::size_t operator[](int i) const { return static_cast<std::size_t>(arguments[i]); }
  /// The value of an int or a socklen_t, in the register's lower half; 0 for negative ones, which the kernel refuses.
  std::size_t count(int i) const {
    return static_cast<int>(arguments[i]) < 0 ? 0 : static_cast<std::size_t>(static_cast<int>(arguments[i]));
  }
  void* at(int i) const { return reinterpret_cast<void*>(arguments[i]); }
};

/// Gives the stream a buffer that is not the program's, where malloc is: the kernel may find the program's pages shut.
void keep_buffer_private(FILE* stream);
void keep_standard_buffers_private();

/// Calls `touch` and `call` again while `is_bad_address` is true of what `call` answers: a local peer may
/// have taken a lock, and shut the pages again, after they were touched. A call that fails so has mostly done nothing.
/// (If the address is bad indeed, it still is at the end.)
template <typename Touch, typename Call, typename IsBadAddress>
auto with_open_pages(Touch touch, Call call, IsBadAddress is_bad_address) {
  constexpr int most_tries = 1000;
  for (int tries = 1;; ++tries) {
    // A later page may bring news that shuts an earlier one: the call would move a part.
    for (std::uint64_t shut = ~std::uint64_t{0}; shut != times_shut_by_touches() && tries < most_tries; ++tries) {
      shut = times_shut_by_touches();
      touch();
    }
    const auto answer = call();
    shut_after_use();
    if (tries == most_tries || !is_bad_address(answer)) return answer;
  }
}

/// Serves syscall(), called by the program from `caller`. Answers as the kernel does. Ends the run if a call that the
/// run-time does not know fails for shared memory that it was given.
long serve(long number, const SystemCall& call, std::uintptr_t caller);

}  // namespace sdsm::program
