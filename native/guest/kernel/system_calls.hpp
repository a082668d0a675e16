/// System calls on the program's memory. They fail on protected pages instead of trapping (EFAULT), so the run-time
/// touches first what the kernel will read or write, as the program would.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <initializer_list>
#include <optional>

#include "native/guest/kernel/private_copies.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/kernel_call.hpp"

namespace sdsm::program {

/// Whether the engine manages the memory there.
bool is_shared(std::uintptr_t address);

/// The arguments of a system call, or of a function with the same ones.
struct SystemCall : KernelArguments {
  const char* name = nullptr;
  PrivateCopies* copies = nullptr;  ///< null: shared memory is touched only
  bool answers_with_error = false;  ///< instead of -1 and errno
  bool is_wait = false;             ///< its time is no computing
  bool goes_on = false;             ///< when the run-time has interrupted it
  bool is_stream = false;           ///< it answers a FILE*
  /// What it opens: the answer is a descriptor; two are at argument `pair_at`; the answer is a stream on a new
  /// descriptor, or on one that is open; it is a stream or a descriptor that had another file.
  enum class Opens : std::uint8_t { nothing, file, pair, stream, stream_on_file, over_stream, over_file };
  Opens opening = Opens::nothing;
  int pair_at = 0;
  int milliseconds_at = -1;  ///< the argument that limits it, in milliseconds; -1: none, or the kernel counts down
  int timespec_at = -1;      ///< the argument that limits it, as a time that the kernel does not count down
  int socket_limit = 0;      ///< the option of the socket in argument 0 that limits it
  timespec limit{};
  /// Places of the further arguments of a call on a regular file, which moves all that it has room for; none: 0.
  struct Rest {
    int offset, room;
  };
  std::optional<Rest> rest = {};

  std::size_t operator[](int i) const { return static_cast<std::size_t>(arguments[i]); }
  /// The value of an int or a socklen_t, in the register's lower half; 0 for negative ones, which the kernel refuses.
  std::size_t count(int i) const {
    return static_cast<int>(arguments[i]) < 0 ? 0 : static_cast<std::size_t>(static_cast<int>(arguments[i]));
  }
  void* at(int i) const { return reinterpret_cast<void*>(arguments[i]); }

  // Touch the memory at argument `i`, if that is no null pointer, as the kernel will use it.
  void in(int i, std::size_t bytes) const;
  void out(int i, std::size_t bytes) const;
  void text(int i) const;
  void opens(int path) const;                      ///< a file: text
  void texts(int i) const;                         ///< until a null pointer
  void environment() const;                        ///< of the process: texts
  void in_parts(int i, std::size_t count) const;   ///< iovec[count]
  void out_parts(int i, std::size_t count) const;  ///< iovec[count]
  void in_message(int i) const;                    ///< msghdr
  void in_numbered(int i) const;                   ///< file_handle: its first number says how many bytes follow 8
  void in_mask_and_size(int i) const;              ///< of pselect6: a mask's address and bytes

  /// Moves argument 2's bytes to or from argument 1. `offset`: the argument with the place in the file; `room`: that
  /// with the buffer's size. If a local peer shuts pages amid the call, it goes on behind them.
  void moves_all(int offset = 0, int room = 0);
  /// The call for the rest, after `moved` bytes.
  SystemCall behind(std::size_t moved, Rest places) const;

  // Results that the kernel gives only once: the argument becomes a private copy's address.
  void copied(int i, std::size_t bytes);
  void copied_data(int i, std::size_t bytes, std::size_t head = 0);  ///< as many bytes behind `head` as it answers
  void copied_by_file(int i, std::size_t bytes);                     ///< as copied_data; argument 0 is a file
  void copied_parts(int i, std::size_t count);                       ///< iovec[count]; argument 0 is a file
  void copied_message(int i);
  void copied_sized(int i, int size);  ///< as many bytes as the socklen_t at argument `size` says; that, too
  void copied_sets(int first, int count, std::size_t files);  ///< fd_set in `count` arguments

  /// The program may call it to let time pass, which its clock then has to show.
  void waits_on(int milliseconds = -1) {
    is_wait = goes_on = true;
    milliseconds_at = milliseconds;
  }
  void waits_for_socket(int option) {
    goes_on = true;
    socket_limit = option;
  }
  void waits_for_others(int time = -1) {
    goes_on = true;
    timespec_at = time;
  }
  void waits_for_time(int i) {
    is_wait = goes_on = true;
    timespec_at = i;
  }
  /// Waits until a time, if argument `flags` says so, else for so long.
  void waits_until_or_for(int flags, int i) {
    is_wait = goes_on = true;
    if ((arguments[flags] & TIMER_ABSTIME) == 0) timespec_at = i;
  }
  /// Argument `limit` is a time that the clock in argument `clock` shows to the program, if `flags` says so.
  void until(int clock, int flags, int limit);

  void opens_file() { opening = Opens::file; }
  void replaces_file() { opening = Opens::over_file; }
  void controls_file();  ///< fcntl, which may open one
  void opens_pair(int i) {
    opening = Opens::pair;
    pair_at = i;
  }
  /// The answer is a FILE*, whose buffer will not be the program's.
  void opens_stream(Opens how = Opens::nothing) {
    is_stream = true;
    opening = how;
  }
  /// The answer is an error's number.
  void answers_error() { answers_with_error = true; }
  /// Ends the run if one of these arguments points to shared memory; without any: in any case.
  void refused(std::initializer_list<int> pointers = {}) const;
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
