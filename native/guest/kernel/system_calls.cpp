#include "native/guest/kernel/system_calls.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "native/guest/kernel/call_uses.hpp"
#include "native/guest/kernel/clocks.hpp"
#include "native/guest/kernel/mapped_memory.hpp"
#include "native/guest/kernel/open_files.hpp"
#include "native/guest/runtime/engine.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/own_calls.hpp"
#include "native/guest/runtime/program_image.hpp"

extern "C" [[noreturn]] void __chk_fail();

namespace sdsm::program {
namespace {

std::int64_t now_ns() {
  timespec now{};
  call_kernel(SYS_clock_gettime, {{CLOCK_MONOTONIC, reinterpret_cast<long>(&now)}});
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// SO_RCVTIMEO or SO_SNDTIMEO; 0 for none, or of what is no socket.
std::int64_t limit_of_socket(long socket, int option) {
  timeval limit{};
  socklen_t bytes = sizeof limit;
  const SystemCall ask{{socket, SOL_SOCKET, option, reinterpret_cast<long>(&limit), reinterpret_cast<long>(&bytes), 0}};
  return call_kernel(SYS_getsockopt, ask) == 0 ? limit.tv_sec * 1'000'000'000 + limit.tv_usec * 1000 : 0;
}

/// Notes what a call has opened, and gives it the number that it has from now on. Returns the call's answer.
long note_opened(const OpenedCall& call, long answer) {
  using enum UseKind;
  const auto descriptor = static_cast<int>(answer);
  if (call.opening.kind == none || descriptor == -1 || (answer < 0 && answer >= -4095)) return answer;
  auto* const stream = reinterpret_cast<FILE*>(answer);
  switch (call.opening.kind) {
    case opens_file: return open_files::opened(descriptor);
    case replaces_file: open_files::replaced(descriptor); break;
    case opens_pair:
      for (int i = 0; i < 2; ++i) {
        int& end = static_cast<int*>(call.at(call.opening.argument))[i];
        end = open_files::opened(end);
      }
      break;
    case opens_stream:
      if (stream != nullptr) stream->_fileno = open_files::opened(stream->_fileno);
      [[fallthrough]];
    case opens_stream_on_file:
      if (stream != nullptr) open_files::opened_stream(stream);
      break;
    case reopens_stream:
      if (stream != nullptr) {
        open_files::replaced(stream->_fileno);
        open_files::opened_stream(stream);
      }
      break;
    default: break;
  }
  return answer;
}

/// Whether a call has failed as its file is not open here, and may succeed now.
bool finds_file(const CallRow& row, const SystemCall& call, int error) {
  if (error != EBADF || row.uses[0].kind == UseKind::rare) return false;
  const bool moves_data = std::strstr(row.name, "read") != nullptr || std::strstr(row.name, "write") != nullptr;
  return moves_data && open_files::find_elsewhere(static_cast<int>(call[0]));
}

/// What a call answers; and if that is a failure, which one.
struct Answer {
  long value = 0;
  int error = 0;
};

/// Calls `real` until `is_bad_address` is false of its answer and of the call. `inside`: the call as it was made.
template <typename Call, typename IsBadAddress>
Answer call_once(const CallRow& row, const SystemCall& call, OpenedCall& inside, Call real,
                 IsBadAddress is_bad_address) {
  PrivateCopies copies;
  const auto open = [&] {
    copies.clear();
    inside = {call, row.name, &copies};
    for (const Use& use : row.uses) apply(use, inside);
  };
  const auto call_it = [&] {
    if (!inside.is_wait && !inside.goes_on) return real(inside);
    const std::int64_t begun_ns = now_ns();
    const Answer answer = real(inside);
    // What another thread ended took as long as that needed.
    const bool is_by_limit = answer.error == EAGAIN;
    // Less is the call itself, and another day another time.
    constexpr std::int64_t least_ns = 50'000;
    const std::int64_t ns = now_ns() - begun_ns;
    if ((inside.is_wait || is_by_limit) && ns >= least_ns) engine::sleep(static_cast<std::uint64_t>(ns));
    return answer;
  };
  const Answer answer = with_open_pages(open, call_it, [&](const Answer& given) {
    const bool is_bad = is_bad_address(given, inside);
    if (is_bad && inside.is_rare) end_if_shared(inside);
    return is_bad && !inside.is_rare;
  });
  copies.give_back(answer.value);
  return answer;
}

/// Makes the call; on a regular file again until its bytes have been moved.
template <typename Call, typename IsBadAddress>
Answer with_memory(const CallRow& row, const SystemCall& call, Call real, IsBadAddress is_bad_address) {
  SystemCall left = call;
  for (long moved = 0;;) {
    OpenedCall inside;
    const Answer answer = call_once(row, left, inside, real, is_bad_address);
    if (inside.moving == nullptr) return answer;
    if (answer.value <= 0) return moved > 0 ? Answer{moved} : answer;
    moved += answer.value;
    if (static_cast<std::size_t>(answer.value) >= left[2]) return {moved};
    left.arguments[1] += answer.value;
    left.arguments[2] -= answer.value;
    if (const int offset = inside.moving->argument; offset != 0) left.arguments[offset] += answer.value;
    if (const int room = inside.moving->other; room != 0) left.arguments[room] -= answer.value;
  }
}

/// A call that waits goes on when the run-time's signals have interrupted it, for as long as its limit leaves: no
/// signal of the program's has come, so it expects no EINTR. `over`: what it answers when its socket's limit is over.
template <typename Call>
Answer in_spite_of_signals(const OpenedCall& inside, const Answer& over, Call call) {
  OpenedCall left = inside;
  const bool has_limit = inside.milliseconds_at >= 0 || inside.timespec_at >= 0 || inside.socket_limit != 0;
  const std::int64_t begun_ns = has_limit ? now_ns() : 0;
  // The kernel may leave there what was left at the interruption.
  const auto* const time =
      inside.timespec_at >= 0 ? static_cast<const timespec*>(inside.at(inside.timespec_at)) : nullptr;
  const timespec whole = time != nullptr ? *time : timespec{};
  for (;;) {
    const std::uint32_t interruptions = times_interrupted();
    const std::uint32_t handled = times_handled();
    const Answer answer = call(left);
    const bool says_so = answer.error == EINTR || (inside.answers_with_error && answer.value == EINTR);
    const bool is_interrupted = says_so && times_interrupted() != interruptions;
    if (!inside.goes_on || !is_interrupted || times_handled() != handled) return answer;
    if (inside.socket_limit != 0) {
      const std::int64_t limit_ns = limit_of_socket(inside.arguments[0], inside.socket_limit);
      if (limit_ns > 0 && now_ns() - begun_ns >= limit_ns) return over;
    }
    const int limit_at = inside.milliseconds_at;
    if (limit_at >= 0 && static_cast<int>(inside.arguments[limit_at]) > 0) {
      constexpr std::int64_t ms = 1'000'000;
      const auto limit = static_cast<int>(inside.arguments[limit_at]);
      left.arguments[limit_at] = std::max<std::int64_t>(0, limit - (now_ns() - begun_ns) / ms);
    }
    if (time != nullptr) {
      constexpr std::int64_t second = 1'000'000'000;
      const std::int64_t passed_ns = now_ns() - begun_ns;
      const std::int64_t ns = whole.tv_nsec - passed_ns % second;
      left.limit = {whole.tv_sec - passed_ns / second - (ns < 0 ? 1 : 0), ns < 0 ? ns + second : ns};
      if (left.limit.tv_sec < 0) left.limit = {};
      left.arguments[inside.timespec_at] = reinterpret_cast<long>(&left.limit);
    }
  }
}

using LibraryFunction = NextFunction<long(long, long, long, long, long, long)>;

/// A function of the C library: `real` with its pages open. All of the register is passed on, for pointers, too.
long call_library(LibraryFunction& real, const CallRow& row, const SystemCall& call, std::uintptr_t caller) {
  const int error_before = errno;
  int error = 0;
  auto* const function = real.for_caller(caller);
  const auto call_it = [&](const OpenedCall& inside) {
    return in_spite_of_signals(inside, {-1, EAGAIN}, [&](const OpenedCall& left) {
      errno = 0;  // a success leaves it as it is, which might be EFAULT
      const long* const w = left.arguments;
      std::optional<open_files::NextRoom> room;
      if (inside.opens_new_stream()) room.emplace(open_files::room_for_stream());
      long value = function(w[0], w[1], w[2], w[3], w[4], w[5]);
      error = errno;
      room.reset();
      // A call at the end of a region's body, whose answer nobody uses, seems to come from the run-time.
      if (!is_run_time(caller) || inside.opening.kind > UseKind::opens_pair) value = note_opened(inside, value);
      if (inside.opening.kind >= UseKind::opens_stream) keep_buffer_private(reinterpret_cast<FILE*>(value));
      return Answer{value, static_cast<int>(value) == -1 ? error : 0};
    });
  };
  Answer answer;
  // A library of the program may have a function of this name. The run-time's buffers are its own; it calls none that
  // is refused, which is a call at the end of a region's body then.
  const bool is_own_call = is_run_time(caller) && row.uses[0].kind != UseKind::refused_always;
  if (program_image.is_program(reinterpret_cast<std::uintptr_t>(function)) || is_own_call) {
    answer = call_it({call, row.name});
  } else {
    answer = with_memory(row, call, call_it, [&](const Answer& given, const OpenedCall& inside) {
      return (inside.answers_with_error ? static_cast<int>(given.value) : error) == EFAULT;
    });
  }
  if (answer.error != 0) error = answer.error;
  if (finds_file(row, call, answer.error)) return call_library(real, row, call, caller);
  errno = error == 0 ? error_before : error;
  return answer.value;
}

// The table: an entry for each number, and a function for each name.

/// The number that a macro's text is; -1 if there is no macro of that name.
constexpr long number_in(const char* text) {
  long number = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return -1;
    number = 10 * number + (*text - '0');
  }
  return number;
}

// SDSM_EACH(row, uses, names...) is row(uses, name) of each, for up to 256 names.
#define SDSM_EACH(...) SDSM_EXPAND(SDSM_FIRST(__VA_ARGS__))
#define SDSM_FIRST(row, uses, name, ...) row(uses, name) __VA_OPT__(SDSM_OTHERS SDSM_NOTHING(row, uses, __VA_ARGS__))
#define SDSM_OTHERS() SDSM_FIRST
#define SDSM_NOTHING ()
#define SDSM_EXPAND(...) SDSM_64(SDSM_64(SDSM_64(SDSM_64(__VA_ARGS__))))
#define SDSM_64(...) SDSM_16(SDSM_16(SDSM_16(SDSM_16(__VA_ARGS__))))
#define SDSM_16(...) SDSM_4(SDSM_4(SDSM_4(SDSM_4(__VA_ARGS__))))
#define SDSM_4(...) __VA_ARGS__

#define SDSM_USES(...) __VA_ARGS__
#define SDSM_TEXT(macro) SDSM_TEXT_OF(macro)
#define SDSM_TEXT_OF(text) #text
#define SDSM_NUMBER(uses, name) {number_in(SDSM_TEXT(SYS_##name)), "syscall(SYS_" #name ", ...)", {SDSM_USES uses}},
// Names of the assembler's, as the headers have others' types for these functions.
#define SDSM_FUNCTION(uses, name)                                                                                      \
  extern "C" __attribute__((visibility("default"))) long served_##name(long, long, long, long, long, long) asm(#name); \
  long served_##name(long a1, long a2, long a3, long a4, long a5, long a6) {                                           \
    SDSM_NEXT_FUNCTION LibraryFunction real{#name};                                                                    \
    static constexpr CallRow row{-1, #name, {SDSM_USES uses}};                                                         \
    return call_library(real, row, {{a1, a2, a3, a4, a5, a6}}, SDSM_CALLER);                                           \
  }

}  // namespace

namespace table {
using enum UseKind;

#define CALLS(...) SDSM_EACH(SDSM_NUMBER, __VA_ARGS__)
#define FUNCTIONS(...)
#define NUMBERS(...) SDSM_EACH(SDSM_NUMBER, __VA_ARGS__)
constexpr CallRow rows[] = {
#include "native/guest/kernel/system_calls.def"
};
#undef CALLS
#undef FUNCTIONS
#undef NUMBERS

constexpr CallRow not_in_table{-1, "syscall() of a number that few programs use", {rare}};
constexpr auto row_of_number = [] {
  std::array<const CallRow*, 512> found{};
  found.fill(&not_in_table);
  for (const CallRow& row : rows) {
    if (row.number >= 0) found[static_cast<std::size_t>(row.number)] = &row;
  }
  return found;
}();

#define CALLS(...) SDSM_EACH(SDSM_FUNCTION, __VA_ARGS__)
#define FUNCTIONS(...) SDSM_EACH(SDSM_FUNCTION, __VA_ARGS__)
#define NUMBERS(...)
#include "native/guest/kernel/system_calls.def"
}  // namespace table

bool is_shared(std::uintptr_t address) {
  return shared_heap::holds(reinterpret_cast<const void*>(address)) || home_of_address(address) >= 0;
}

long serve(long number, const SystemCall& call, std::uintptr_t caller) {
  const auto as_kernel = [](long answer) { return answer == -1 ? -static_cast<long>(errno) : answer; };
  const auto number_at = [&](int i) { return static_cast<int>(call[i]); };
  switch (number) {  // the program's own functions know shared memory (mapped_memory.cpp), and how to end
    case SYS_mmap:
      return as_kernel(reinterpret_cast<long>(
          map_memory(call.at(0), call[1], number_at(2), number_at(3), number_at(4), call.arguments[5], caller)));
    case SYS_mremap:
      return as_kernel(reinterpret_cast<long>(mremap(call.at(0), call[1], call[2], number_at(3), call.at(4))));
    case SYS_munmap: return as_kernel(munmap(call.at(0), call[1]));
    case SYS_mprotect: return as_kernel(mprotect(call.at(0), call[1], number_at(2)));
    case SYS_pkey_mprotect: return as_kernel(pkey_mprotect(call.at(0), call[1], number_at(2), number_at(3)));
    case SYS_madvise: return as_kernel(madvise(call.at(0), call[1], number_at(2)));
    case SYS_mlock: return as_kernel(mlock(call.at(0), call[1]));
    case SYS_mlock2: return as_kernel(mlock2(call.at(0), call[1], static_cast<unsigned>(call[2])));
    case SYS_munlock: return as_kernel(munlock(call.at(0), call[1]));
    case SYS_exit_group: _exit(number_at(0));
    case SYS_close: {
      const open_files::Closing noted(number_at(0));
      return call_kernel(number, call);
    }
    default: break;
  }
  if (const auto answered = answer_clock_call(number, call)) return *answered;
  const bool is_known = static_cast<unsigned long>(number) < table::row_of_number.size();
  const CallRow& row = is_known ? *table::row_of_number[static_cast<std::size_t>(number)] : table::not_in_table;
  const auto call_it = [&](const OpenedCall& inside) {
    return in_spite_of_signals(inside, {-EAGAIN, EAGAIN}, [&](const OpenedCall& left) {
      const long value = note_opened(left, call_kernel(number, left));
      return Answer{value, value < 0 && value >= -4095 ? static_cast<int>(-value) : 0};
    });
  };
  const auto is_bad_address = [](const Answer& given, const OpenedCall& /*inside*/) { return given.value == -EFAULT; };
  const long answer = with_memory(row, call, call_it, is_bad_address).value;
  if (finds_file(row, call, static_cast<int>(-answer))) return serve(number, call, caller);
  if (number == SYS_getrusage && answer == 0) answer_getrusage(number_at(0), static_cast<rusage*>(call.at(1)));
  return answer;
}

}  // namespace sdsm::program

using namespace sdsm::program;

/// One argument too many for the table.
SDSM_ENTRY long __recvfrom_chk(long socket, long buffer, long bytes, long room, long flags, long address, long length) {
  if (static_cast<std::size_t>(bytes) > static_cast<std::size_t>(room)) __chk_fail();
  return as_library(serve(SYS_recvfrom, {{socket, buffer, bytes, flags, address, length}}, SDSM_CALLER));
}
