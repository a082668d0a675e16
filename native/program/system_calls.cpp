#include "native/program/system_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
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

#include <cstring>
#include <ctime>

#include "native/program/ending.hpp"
#include "native/program/next_function.hpp"
#include "native/program/program_image.hpp"

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

/// Newer requests tell it themselves.
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

void whole_message(void* memory, KernelUse use) {
  auto* const message = static_cast<msghdr*>(memory);
  if (message == nullptr) return;
  touch_for_kernel(message, sizeof *message, use);
  touch_for_kernel(message->msg_name, message->msg_namelen, use);
  touch_for_kernel(message->msg_control, message->msg_controllen, use);
  each_part(message->msg_iov, message->msg_iovlen, use);
}

using Touch = void (*)(const SystemCall&);
struct Row {
  long number;
  Touch touch;  ///< null: it has no buffers
};

#define FUNCTION(name, ...)
#define RAW(number, ...) {number, [](const SystemCall& c) { __VA_ARGS__; }},
#define CALL(name, number, ...) RAW(number, __VA_ARGS__)
#define PLAIN(number) {number, nullptr},
constexpr Row rows[] = {
#include "native/program/system_calls.def"
};
#undef FUNCTION
#undef RAW
#undef CALL
#undef PLAIN

/// A function of the C library: `real` with its pages open. Whether it returns a number or a pointer, all of the
/// register is passed on.
long call_library(NextFunction<long(long, long, long, long, long, long)>& real, Touch touch, const SystemCall& call) {
  const int error_before = errno;
  bool is_bad_address = false;
  const auto call_it = [&] {
    errno = 0;  // a success leaves it as it is, which might be EFAULT
    const long* const w = call.arguments;
    const long answer = real(w[0], w[1], w[2], w[3], w[4], w[5]);
    is_bad_address = errno == EFAULT;
    if (errno == 0) errno = error_before;
    return answer;
  };
  // A library of the program may have a function of this name. (It gets six arguments.)
  if (program_image.is_program(real.address())) return call_it();
  return with_open_pages([&] { touch(call); }, call_it, [&](long /*unused*/) { return is_bad_address; });
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
void SystemCall::in_parts(int i, std::size_t count) const {
  each_part(at(i), count, KernelUse::reads);
}
void SystemCall::out_parts(int i, std::size_t count) const {
  each_part(at(i), count, KernelUse::writes);
}
void SystemCall::in_message(int i) const {
  whole_message(at(i), KernelUse::reads);
}
void SystemCall::out_message(int i) const {
  whole_message(at(i), KernelUse::writes);
}
void SystemCall::out_sized(int i, int size) const {
  out(size, sizeof(socklen_t));
  if (at(size) != nullptr) out(i, *static_cast<const socklen_t*>(at(size)));
}
void SystemCall::out_sets(int first, int count, std::size_t files) const {
  if (files > 1 << 20) return;
  for (int i = first; i < first + count; ++i) out(i, (files + 63) / 64 * sizeof(long));
}

long serve(long number, const SystemCall& call, long (*call_kernel)(long number, const SystemCall& call)) {
  const auto as_kernel = [](long answer) { return answer == -1 ? -static_cast<long>(errno) : answer; };
  switch (number) {  // the program's own functions know shared memory (mapped_memory.cpp)
    case SYS_munmap: return as_kernel(munmap(call.at(0), call[1]));
    case SYS_mprotect: return as_kernel(mprotect(call.at(0), call[1], static_cast<int>(call[2])));
    case SYS_madvise: return as_kernel(madvise(call.at(0), call[1], static_cast<int>(call[2])));
    case SYS_mlock: return as_kernel(mlock(call.at(0), call[1]));
    case SYS_munlock: return as_kernel(munlock(call.at(0), call[1]));
    default: break;
  }
  for (const Row& row : rows) {
    if (row.number != number) continue;
    if (row.touch == nullptr) return call_kernel(number, call);
    return with_open_pages([&] { row.touch(call); }, [&] { return call_kernel(number, call); },
                           [](long answer) { return answer == -EFAULT; });
  }
  const long answer = call_kernel(number, call);
  // Registers that the caller has not filled may hold any address: only a call that fails for one has looked.
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
    static constinit NextFunction<long(long, long, long, long, long, long)> real{#name};                               \
    return call_library(real, [](const SystemCall& c) { __VA_ARGS__; }, {{a1, a2, a3, a4, a5, a6}});                   \
  }
#define RAW(number, ...)
#define CALL(name, number, ...) FUNCTION(name, __VA_ARGS__)
#define PLAIN(number)
#include "native/program/system_calls.def"
