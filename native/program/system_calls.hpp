/// What system calls do with the program's memory. They fail on protected pages instead of trapping (EFAULT), so what
/// the kernel reads is touched first as a read, what it writes as a write, as the program would.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "native/program/shared_memory.hpp"

namespace sdsm::program {

/// Whether the engine decides what may be done with the memory there.
bool is_shared(std::uintptr_t address);

/// The arguments of a system call, or of a function with the same ones.
struct SystemCall {
  long arguments[6];

  std::size_t operator[](int i) const { return static_cast<std::size_t>(arguments[i]); }
  /// Of an int or a socklen_t, in the register's lower half. Negative ones are refused by the kernel: none.
  std::size_t count(int i) const {
    return static_cast<int>(arguments[i]) < 0 ? 0 : static_cast<std::size_t>(static_cast<int>(arguments[i]));
  }
  void* at(int i) const { return reinterpret_cast<void*>(arguments[i]); }

  // What the kernel does with the memory at argument `i`, if that is no null pointer.
  void in(int i, std::size_t bytes) const;
  void out(int i, std::size_t bytes) const;
  void text(int i) const;
  void in_parts(int i, std::size_t count) const;   ///< iovec[count]
  void out_parts(int i, std::size_t count) const;  ///< iovec[count]
  void in_message(int i) const;                    ///< msghdr
  void out_message(int i) const;                   ///< msghdr
  void out_sized(int i, int size) const;  ///< as many bytes as the socklen_t at argument `size` says; that, too
  void out_sets(int first, int count, std::size_t files) const;  ///< fd_set in `count` arguments
};

/// Calls `touch` and `call` again while `is_bad_address` is true of what `call` answers: a companion on the node may
/// have taken a lock, and shut the pages again, after they were touched. A call that fails so has mostly done nothing.
/// (If the address is bad indeed, it still is at the end.)
template <typename Touch, typename Call, typename IsBadAddress>
auto with_open_pages(Touch touch, Call call, IsBadAddress is_bad_address) {
  constexpr int most_tries = 1000;
  for (int tries = 1;; ++tries) {
    // A later page may come with news that shuts an earlier one: the call would move a part.
    for (std::uint64_t shut = ~std::uint64_t{0}; shut != times_shut_by_touches() && tries < most_tries; ++tries) {
      shut = times_shut_by_touches();
      touch();
    }
    const auto answer = call();
    if (tries == most_tries || !is_bad_address(answer)) return answer;
  }
}

/// What the program asks the kernel for by syscall(): `call_kernel` answers as the kernel does (-EFAULT). Ends the run
/// if a call that nobody knows fails for shared memory that it was given.
long serve(long number, const SystemCall& call, long (*call_kernel)(long number, const SystemCall& call));

}  // namespace sdsm::program
