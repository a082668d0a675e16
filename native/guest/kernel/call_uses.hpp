/// What system calls do with their arguments: the words of the table (system_calls.def), and how a row acts on a call.
#pragma once

#include <ctime>

#include "native/guest/kernel/private_copies.hpp"
#include "native/guest/kernel/system_calls.hpp"

namespace sdsm::program {

/// Bytes of memory, or elements of an array, that a call tells.
using Size = std::size_t (*)(const SystemCall&);
template <std::size_t bytes>
constexpr Size fixed = [](const SystemCall&) { return bytes; };
template <typename Type, std::size_t count = 1>
constexpr Size of = fixed<count * sizeof(Type)>;
/// As many as argument `i` says, a size_t; an int or a socklen_t is ints<i>.
template <int i, std::size_t unit = 1>
constexpr Size times = [](const SystemCall& call) { return call[i] * unit; };
template <int i, std::size_t unit = 1>
constexpr Size ints = [](const SystemCall& call) { return call.count(i) * unit; };

enum class UseKind : std::uint8_t {
  none,
  // The kernel uses the memory at an argument, if that is no null pointer.
  in,           ///< reads `size`
  out,          ///< writes `size`, and may read it
  text,         ///< reads until a zero
  path,         ///< text: of a file that is to be opened
  texts,        ///< reads texts until a null pointer
  environment,  ///< reads the process's
  in_parts,     ///< iovec[size]
  out_parts,    ///< iovec[size]
  in_message,   ///< msghdr
  // Results that the kernel gives only once: the argument becomes a private copy's address.
  copied,          ///< `size`
  copied_data,     ///< as many bytes as it answers, at most `size`
  copied_by_file,  ///< as copied_data; argument 0 is a file
  copied_parts,    ///< iovec[size]; argument 0 is a file
  copied_message,  ///< msghdr
  copied_sized,    ///< as many bytes as the socklen_t at the next argument says; that, too
  copied_sets,     ///< fd_set in this argument and the next two, of `size` files
  /// It moves argument 2's bytes to or from argument 1. If a local peer shuts pages amid the call, it goes on behind
  /// them, where argument 0 is a regular file. 0, or the argument with the place in the file; `other`: that with the
  /// buffer's size.
  moves_all,
  // Calls that wait go on when the run-time has interrupted them. Where the program may call one to let time pass, the
  // program's clock then shows it.
  sleeps,              ///< for a time that the kernel does not count down
  sleeps_ms,           ///< for milliseconds
  sleeps_counted,      ///< for a time that the kernel counts down
  sleeps_on_clock,     ///< clock_nanosleep
  waits,               ///< for others
  waits_until,         ///< for others, for a time that the kernel does not count down
  waits_for_received,  ///< for a socket that has a limit of its own
  waits_for_sent,
  // The answer is a file.
  opens_file,
  opens_by_command,  ///< fcntl may
  opens_pair,        ///< two are at the argument
  replaces_file,     ///< a number that had another file
  // The answer is a stream, whose buffer will not be the program's.
  opens_stream,
  opens_stream_on_file,  ///< on a descriptor that is open
  reopens_stream,
  opens_own_stream,  ///< no other process will have it

  answers_error,   ///< an error's number, instead of -1 and errno
  rare,            ///< nothing is touched: the run ends if the call fails for shared memory that is protected
  refused,         ///< the run ends if the argument points to shared memory
  refused_always,  ///< the run ends
};

/// What one call does with an argument, or with its answer.
struct Use {
  UseKind kind = UseKind::none;
  signed char argument = 0;
  signed char other = 0;
  Size size = nullptr;

  constexpr Use() = default;
  constexpr Use(UseKind what, int at = 0, Size bytes = nullptr, int second = 0)
      : kind(what), argument(static_cast<signed char>(at)), other(static_cast<signed char>(second)), size(bytes) {}
};

struct CallRow {
  long number;  ///< less than 0: none
  const char* name;
  Use uses[5];
};

/// A call as the kernel gets it: with its pages open, and private memory in place of what it is to write only once.
struct OpenedCall : SystemCall {
  const char* name = nullptr;
  PrivateCopies* copies = nullptr;
  bool answers_with_error = false;
  bool is_rare = false;
  bool is_wait = false;         ///< its time is no computing
  bool goes_on = false;         ///< when the run-time has interrupted it
  int milliseconds_at = -1;     ///< the argument that limits it, in milliseconds; -1: none, or the kernel counts down
  int timespec_at = -1;         ///< the argument that limits it, as a time that the kernel does not count down
  int socket_limit = 0;         ///< the option of the socket in argument 0 that limits it
  Use opening = {};             ///< what it opens
  const Use* moving = nullptr;  ///< moves_all
  timespec limit{};

  bool opens_new_stream() const {
    return opening.kind == UseKind::opens_stream || opening.kind == UseKind::opens_stream_on_file;
  }
};

void apply(const Use& use, OpenedCall& call);

/// Ends the run if a call that is not served was given shared memory.
void end_if_shared(const OpenedCall& call);

// Sizes that need more words.
std::size_t bytes_of_fcntl(const SystemCall& call);
std::size_t bytes_of_ioctl(const SystemCall& call);
std::size_t bytes_of_prctl(const SystemCall& call);
/// The mask of get_mempolicy and others: one bit for each of the machine's nodes of memory; argument `i` has the bits.
template <int i>
constexpr Size nodes =
    [](const SystemCall& call) { return call[i] > 1 << 20 ? 0 : (call[i] + 63) / 64 * sizeof(long); };

}  // namespace sdsm::program
