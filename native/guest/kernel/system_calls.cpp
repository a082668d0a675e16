#include "native/guest/kernel/system_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
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
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "native/guest/kernel/clocks.hpp"
#include "native/guest/kernel/fortran.hpp"
#include "native/guest/kernel/mapped_memory.hpp"
#include "native/guest/kernel/open_files.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/engine.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/own_calls.hpp"
#include "native/guest/runtime/program_image.hpp"

namespace sdsm::program {
namespace {

constexpr std::size_t mask_bytes = 8;  // of signals, as the kernel has them

std::size_t bytes_of_fcntl(std::size_t command) {
  switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return sizeof(struct flock);
    case F_GETOWN_EX:
    case F_SETOWN_EX: return sizeof(f_owner_ex);
    default: return 0;  // a number, or nothing, which leaves any number there
  }
}

/// Newer requests hold their size.
std::size_t bytes_of_ioctl(std::size_t request) {
  switch (request) {
    case FIONREAD:
    case FIONBIO:
    case FIOASYNC:
    case TIOCOUTQ:
    case TIOCGPGRP:
    case TIOCSPGRP: return sizeof(int);
    case TIOCGWINSZ:
    case TIOCSWINSZ: return sizeof(winsize);
    case TCGETS:
    case TCSETS:
    case TCSETSW:
    case TCSETSF: return 36;  // the kernel's termios
    default: break;
  }
  constexpr std::size_t network_first = 0x8900, network_last = 0x89ff;
  return request >= network_first && request <= network_last ? sizeof(ifreq) : _IOC_SIZE(request);
}

void each_part(const void* memory, std::size_t count, KernelUse use) {
  const auto* const parts = static_cast<const iovec*>(memory);
  if (count > IOV_MAX || parts == nullptr) return;  // the kernel refuses it
  touch_for_kernel(parts, count * sizeof *parts, KernelUse::reads);
  for (std::size_t i = 0; i < count; ++i) touch_for_kernel(parts[i].iov_base, parts[i].iov_len, use);
}

std::size_t bytes_of_semctl(const SystemCall& call) {
  constexpr std::size_t version = 0x100;  // of the structures (IPC_64)
  switch (call.count(2) & ~version) {
    case IPC_STAT:
    case IPC_SET:
    case SEM_STAT:
    case SEM_STAT_ANY: return sizeof(semid_ds);
    case IPC_INFO:
    case SEM_INFO: return sizeof(seminfo);
    case GETALL:
    case SETALL: {
      semid_ds all{};
      const SystemCall ask{{call.arguments[0], 0, IPC_STAT, reinterpret_cast<long>(&all)}};
      return call_kernel(SYS_semctl, ask) < 0 ? 0 : all.sem_nsems * sizeof(unsigned short);
    }
    default: return 0;
  }
}

/// Bytes of the mask of get_mempolicy and others: one bit for each of the machine's nodes of memory.
std::size_t bytes_of_nodes(std::size_t bits) {
  return bits > 1 << 20 ? 0 : (bits + 63) / 64 * sizeof(long);
}

/// What cannot be read from a file stays there, and is there when the call is repeated.
bool is_lasting(long file) {
  struct stat status {};
  const SystemCall ask{{file, reinterpret_cast<long>(&status)}};
  return call_kernel(SYS_fstat, ask) == 0 && S_ISREG(status.st_mode);
}

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

/// recvmmsg and sendmmsg, as the kernel does them: one message after the other.
long each_message(const SystemCall& call, bool receives) {
  auto* const messages = static_cast<mmsghdr*>(call.at(1));
  const auto* const patience = static_cast<const timespec*>(receives ? call.at(4) : nullptr);
  const long end_ns = patience == nullptr ? 0 : now_ns() + patience->tv_sec * 1'000'000'000 + patience->tv_nsec;
  const std::size_t count = std::min<std::size_t>(call[2] & 0xffffffff, IOV_MAX);
  int flags = static_cast<int>(call[3]) & ~MSG_WAITFORONE;
  long done = 0;
  while (static_cast<std::size_t>(done) < count) {
    mmsghdr& one = messages[done];
    const SystemCall part{{call.arguments[0], reinterpret_cast<long>(&one.msg_hdr), flags}};
    const long answer = serve(receives ? SYS_recvmsg : SYS_sendmsg, part, 0);
    if (answer < 0) return done > 0 ? done : answer;
    one.msg_len = static_cast<unsigned>(answer);
    ++done;
    if ((call[3] & MSG_WAITFORONE) != 0) flags |= MSG_DONTWAIT;
    if (patience != nullptr && now_ns() >= end_ns) break;
  }
  return done;
}

using Touch = void (*)(SystemCall&);
struct Row {
  long number;
  const char* name;
  Touch touch;  ///< null: it has no buffers
};

#define FUNCTION(name, ...)
#define FUNCTION_64(name, ...)
#define RAW(number, ...) {number, #number, [](SystemCall& c) { __VA_ARGS__; }},
#define CALL(name, number, ...) RAW(number, __VA_ARGS__)
#define PLAIN(number) {number, nullptr, nullptr},
#define OWN(number)
constexpr Row rows[] = {
#include "native/guest/kernel/system_calls.def"
};
#undef FUNCTION
#undef FUNCTION_64
#undef RAW
#undef CALL
#undef PLAIN
#undef OWN

/// Notes what a call has opened, and gives it the number that it has from now on. Returns the call's answer.
long note_opened(const SystemCall& call, long answer) {
  using Opens = SystemCall::Opens;
  const auto descriptor = static_cast<int>(answer);
  if (call.opening == Opens::nothing || descriptor == -1 || (answer < 0 && answer >= -4095)) return answer;
  auto* const stream = reinterpret_cast<FILE*>(answer);
  switch (call.opening) {
    case Opens::nothing: break;
    case Opens::file: return open_files::opened(descriptor);
    case Opens::over_file: open_files::replaced(descriptor); break;
    case Opens::pair:
      for (int i = 0; i < 2; ++i) {
        int& end = static_cast<int*>(call.at(call.pair_at))[i];
        end = open_files::opened(end);
      }
      break;
    case Opens::stream:
      if (stream != nullptr) stream->_fileno = open_files::opened(stream->_fileno);
      [[fallthrough]];
    case Opens::stream_on_file:
      if (stream != nullptr) open_files::opened_stream(stream);
      break;
    case Opens::over_stream:
      if (stream != nullptr) {
        open_files::replaced(stream->_fileno);
        open_files::opened_stream(stream);
      }
      break;
  }
  return answer;
}

/// Whether a call has failed as its file is not open here, and may succeed now.
bool finds_file(const SystemCall& call, int error) {
  if (error != EBADF || call.name == nullptr) return false;
  const bool moves_data = std::strstr(call.name, "read") != nullptr || std::strstr(call.name, "write") != nullptr;
  return moves_data && open_files::find_elsewhere(static_cast<int>(call[0]));
}

/// What a call answers; and if that is a failure, which one.
struct Answer {
  long value = 0;
  int error = 0;
};

/// Calls `real` until `is_bad_address` is false of its answer and of the call. `inside`: the call as it was made.
template <typename Call, typename IsBadAddress>
Answer call_once(Touch touch, const SystemCall& call, SystemCall& inside, Call real, IsBadAddress is_bad_address) {
  PrivateCopies copies;
  const auto open = [&] {
    copies.clear();
    inside = call;
    inside.copies = &copies;
    touch(inside);
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
  const Answer answer =
      with_open_pages(open, call_it, [&](const Answer& given) { return is_bad_address(given, inside); });
  copies.give_back(answer.value);
  return answer;
}

/// Makes the call; on a regular file again until its bytes have been moved.
template <typename Call, typename IsBadAddress>
Answer with_memory(Touch touch, const SystemCall& call, Call real, IsBadAddress is_bad_address) {
  SystemCall left = call;
  for (long moved = 0;;) {
    SystemCall inside = left;
    const Answer answer = call_once(touch, left, inside, real, is_bad_address);
    if (!inside.rest) return answer;
    if (answer.value <= 0) return moved > 0 ? Answer{moved} : answer;
    moved += answer.value;
    if (static_cast<std::size_t>(answer.value) >= left[2]) return {moved};
    left = left.behind(static_cast<std::size_t>(answer.value), *inside.rest);
  }
}

/// A call that waits goes on when the run-time's signals have interrupted it, for as long as its limit leaves: no
/// signal of the program's has come, so it expects no EINTR. `over`: what it answers when its socket's limit is over.
template <typename Call>
Answer in_spite_of_signals(const SystemCall& inside, const Answer& over, Call call) {
  SystemCall left = inside;
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
long call_library(LibraryFunction& real, Touch touch, const SystemCall& call, std::uintptr_t caller) {
  const int error_before = errno;
  int error = 0;
  auto* const function = real.for_caller(caller);
  const auto call_it = [&](const SystemCall& inside) {
    return in_spite_of_signals(inside, {-1, EAGAIN}, [&](const SystemCall& left) {
      errno = 0;  // a success leaves it as it is, which might be EFAULT
      const long* const w = left.arguments;
      const auto call_function = [&] {
        const long value = function(w[0], w[1], w[2], w[3], w[4], w[5]);
        error = errno;
        return value;
      };
      long value = 0;
      if (inside.opening == SystemCall::Opens::stream || inside.opening == SystemCall::Opens::stream_on_file) {
        const open_files::NextRoom room(open_files::room_for_stream());
        value = call_function();
      } else {
        value = call_function();
      }
      // A call at the end of a region's body, whose answer nobody uses, seems to come from the run-time.
      if (!is_run_time(caller) || inside.opening > SystemCall::Opens::pair) value = note_opened(inside, value);
      if (inside.is_stream) keep_buffer_private(reinterpret_cast<FILE*>(value));
      return Answer{value, static_cast<int>(value) == -1 ? error : 0};
    });
  };
  Answer answer;
  // A library of the program may have a function of this name. The run-time's buffers are its own.
  if (program_image.is_program(reinterpret_cast<std::uintptr_t>(function)) || is_run_time(caller)) {
    answer = call_it(call);
  } else {
    answer = with_memory(touch, call, call_it, [&](const Answer& given, const SystemCall& inside) {
      return (inside.answers_with_error ? static_cast<int>(given.value) : error) == EFAULT;
    });
  }
  if (answer.error != 0) error = answer.error;
  if (finds_file(call, answer.error)) return call_library(real, touch, call, caller);
  errno = error == 0 ? error_before : error;
  return answer.value;
}

}  // namespace

bool is_shared(std::uintptr_t address) {
  return shared_heap::holds(reinterpret_cast<const void*>(address)) || home_of_address(address) >= 0;
}

void SystemCall::in(int i, std::size_t bytes) const {
  if (at(i) != nullptr) touch_for_kernel(at(i), bytes, KernelUse::reads);
}
void SystemCall::out(int i, std::size_t bytes) const {
  if (at(i) != nullptr) touch_for_kernel(at(i), bytes, KernelUse::writes);
}
void SystemCall::text(int i) const {
  if (at(i) != nullptr) in(i, std::strlen(static_cast<const char*>(at(i))) + 1);
}
void SystemCall::opens(int path) const {
  text(path);
  if (begins_fortran_statement()) engine::note_unopened_unit(static_cast<const char*>(at(path)));
}
void SystemCall::controls_file() {
  if (count(1) == F_DUPFD || count(1) == F_DUPFD_CLOEXEC) opens_file();
}
void SystemCall::texts(int i) const {
  const auto* const all = static_cast<const char* const*>(at(i));
  if (all == nullptr) return;
  std::size_t count = 0;
  for (; all[count] != nullptr; ++count) touch_for_kernel(all[count], std::strlen(all[count]) + 1, KernelUse::reads);
  in(i, (count + 1) * sizeof *all);
}
void SystemCall::environment() const {
  SystemCall{{reinterpret_cast<long>(environ)}}.texts(0);
}
void SystemCall::in_parts(int i, std::size_t count) const {
  each_part(at(i), count, KernelUse::reads);
}
void SystemCall::out_parts(int i, std::size_t count) const {
  each_part(at(i), count, KernelUse::writes);
}
void SystemCall::in_message(int i) const {
  const auto* const message = static_cast<const msghdr*>(at(i));
  if (message == nullptr) return;
  in(i, sizeof *message);
  touch_for_kernel(message->msg_name, message->msg_namelen, KernelUse::reads);
  touch_for_kernel(message->msg_control, message->msg_controllen, KernelUse::reads);
  each_part(message->msg_iov, message->msg_iovlen, KernelUse::reads);
}
void SystemCall::in_numbered(int i) const {
  constexpr std::size_t head = 8, most = 128;
  if (at(i) != nullptr) out(i, head + std::min<std::size_t>(*static_cast<const std::uint32_t*>(at(i)), most));
}
void SystemCall::in_mask_and_size(int i) const {
  in(i, sizeof(void*) + sizeof(std::size_t));
  if (at(i) != nullptr) touch_for_kernel(*static_cast<const void* const*>(at(i)), mask_bytes, KernelUse::reads);
}

void SystemCall::until(int clock, int flags, int limit_at) {
  if ((arguments[flags] & TIMER_ABSTIME) == 0 || at(limit_at) == nullptr) return;
  limit = real_limit(static_cast<clockid_t>(arguments[clock]), *static_cast<const timespec*>(at(limit_at)));
  arguments[limit_at] = reinterpret_cast<long>(&limit);
}

void SystemCall::moves_all(int offset, int room) {
  if (is_lasting(arguments[0])) rest = {offset, room};
}
SystemCall SystemCall::behind(std::size_t moved, Rest places) const {
  SystemCall left = *this;
  const auto bytes = static_cast<long>(moved);
  left.arguments[1] += bytes;
  left.arguments[2] -= bytes;
  if (places.offset != 0) left.arguments[places.offset] += bytes;
  if (places.room != 0) left.arguments[places.room] -= bytes;
  return left;
}

void SystemCall::copied(int i, std::size_t bytes) {
  arguments[i] = reinterpret_cast<long>(copies->structure(at(i), bytes));
}
void SystemCall::copied_data(int i, std::size_t bytes, std::size_t head) {
  arguments[i] = reinterpret_cast<long>(copies->data(at(i), bytes, head));
}
void SystemCall::copied_by_file(int i, std::size_t bytes) {
  if (is_lasting(arguments[0])) return out(i, bytes);
  copied_data(i, bytes);
}
void SystemCall::copied_parts(int i, std::size_t count) {
  if (is_lasting(arguments[0])) return out_parts(i, count);
  arguments[i] = reinterpret_cast<long>(copies->parts(static_cast<const iovec*>(at(i)), count));
}
void SystemCall::copied_message(int i) {
  if (at(i) != nullptr) arguments[i] = reinterpret_cast<long>(copies->message(static_cast<msghdr*>(at(i))));
}
void SystemCall::copied_sized(int i, int size) {
  if (at(size) == nullptr) return;
  copied(size, sizeof(socklen_t));
  arguments[i] = reinterpret_cast<long>(copies->sized(at(i), at(size)));
}
void SystemCall::copied_sets(int first, int count, std::size_t files) {
  if (files > 1 << 20) return;
  for (int i = first; i < first + count; ++i) copied(i, (files + 63) / 64 * sizeof(long));
}

void SystemCall::refused(std::initializer_list<int> pointers) const {
  if (pointers.size() == 0)
    end_run({"the program calls syscall(", name, ", ...). Call the C library's function instead."});
  for (const int i : pointers) {
    if (!is_shared((*this)[i])) continue;
    end_run({"the program gives shared memory to the kernel by syscall(", name,
             ", ...), which this run-time does not serve. Give it a private copy, from mmap with MAP_32BIT, say."});
  }
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
    case SYS_recvmmsg: return each_message(call, true);
    case SYS_sendmmsg: return each_message(call, false);
    case SYS_exit_group: _exit(number_at(0));
    case SYS_close: {
      const open_files::Closing noted(number_at(0));
      return call_kernel(number, call);
    }
    default: break;
  }
  long answered = 0;
  switch (number) {
    case SYS_clock_gettime:
      if (answer_clock_gettime(number_at(0), static_cast<timespec*>(call.at(1)))) return 0;
      break;
    case SYS_gettimeofday:
      if (answer_gettimeofday(static_cast<timeval*>(call.at(0)), call.at(1))) return 0;
      break;
    case SYS_time:
      if (answer_time(static_cast<std::time_t*>(call.at(0)), answered)) return answered;
      break;
    case SYS_times:
      if (answer_times(static_cast<tms*>(call.at(0)), answered)) return answered;
      break;
    default: break;
  }
  for (const Row& row : rows) {
    if (row.number != number) continue;
    if (row.touch == nullptr) return call_kernel(number, call);
    SystemCall named = call;
    named.name = row.name;
    const auto call_it = [&](const SystemCall& inside) {
      return in_spite_of_signals(inside, {-EAGAIN, EAGAIN}, [&](const SystemCall& left) {
        const long value = note_opened(left, call_kernel(number, left));
        return Answer{value, value < 0 && value >= -4095 ? static_cast<int>(-value) : 0};
      });
    };
    const long answer = with_memory(row.touch, named, call_it, [](const Answer& given, const SystemCall& /*unused*/) {
                          return given.value == -EFAULT;
                        }).value;
    if (finds_file(named, static_cast<int>(-answer))) return serve(number, call, caller);
    if (number == SYS_getrusage && answer == 0) answer_getrusage(number_at(0), static_cast<rusage*>(call.at(1)));
    return answer;
  }
  const long answer = call_kernel(number, call);
  // Registers that the caller has not filled may hold any address: only a call that fails for one has used it.
  for (int i = 0; answer == -EFAULT && i < 6; ++i) {
    if (!is_shared(call[i])) continue;
    end_run({"the program gives shared memory to the kernel by syscall(", Decimal(static_cast<std::uint64_t>(number)),
             ", ...), which this run-time does not know. Give it a private copy, from mmap with MAP_32BIT, say."});
  }
  return answer;
}

}  // namespace sdsm::program

using namespace sdsm::program;

// Names of the assembler's, as the headers have others' types for these functions.
#define FUNCTION(name, ...)                                                                                            \
  extern "C" __attribute__((visibility("default"))) long served_##name(long, long, long, long, long, long) asm(#name); \
  long served_##name(long a1, long a2, long a3, long a4, long a5, long a6) {                                           \
    SDSM_NEXT_FUNCTION LibraryFunction real{#name};                                                                    \
    return call_library(                                                                                               \
        real, [](SystemCall& c) { __VA_ARGS__; }, {{a1, a2, a3, a4, a5, a6}, #name}, SDSM_CALLER);                     \
  }
#define FUNCTION_64(name, ...) FUNCTION(name, __VA_ARGS__) FUNCTION(name##64, __VA_ARGS__)
#define RAW(number, ...)
#define CALL(name, number, ...) FUNCTION(name, __VA_ARGS__)
#define PLAIN(number)
#define OWN(number)
#include "native/guest/kernel/system_calls.def"
#undef FUNCTION

/// The C library's function and the kernel's call are alike, with errors as the library returns them.
#define EACH_MESSAGE(name, receives)                                                                            \
  extern "C" __attribute__((visibility("default"))) int served_##name(long, long, long, long, long) asm(#name); \
  int served_##name(long file, long messages, long count, long flags, long patience) {                          \
    const long answer = each_message({{file, messages, count, flags, patience}}, receives);                     \
    if (answer < 0) errno = static_cast<int>(-answer);                                                          \
    return answer < 0 ? -1 : static_cast<int>(answer);                                                          \
  }
EACH_MESSAGE(recvmmsg, true)
EACH_MESSAGE(sendmmsg, false)
