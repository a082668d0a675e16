#include "native/guest/kernel/call_uses.hpp"

#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "native/guest/kernel/clocks.hpp"
#include "native/guest/kernel/fortran.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/engine.hpp"

namespace sdsm::program {
namespace {

void touch(const void* memory, std::size_t bytes, KernelUse use) {
  if (memory != nullptr) touch_for_kernel(memory, bytes, use);
}
void touch_text(const char* text) {
  if (text != nullptr) touch_for_kernel(text, std::strlen(text) + 1, KernelUse::reads);
}
void touch_texts(const char* const* texts) {
  if (texts == nullptr) return;
  const char* const* text = texts;
  for (; *text != nullptr; ++text) touch_text(*text);
  touch_for_kernel(texts, static_cast<std::size_t>(text + 1 - texts) * sizeof *texts, KernelUse::reads);
}
void touch_parts(const void* memory, std::size_t count, KernelUse use) {
  const auto* const parts = static_cast<const iovec*>(memory);
  if (count > IOV_MAX || parts == nullptr) return;  // the kernel refuses it
  touch_for_kernel(parts, count * sizeof *parts, KernelUse::reads);
  for (std::size_t i = 0; i < count; ++i) touch_for_kernel(parts[i].iov_base, parts[i].iov_len, use);
}
void touch_message(const msghdr* message) {
  if (message == nullptr) return;
  touch_for_kernel(message, sizeof *message, KernelUse::reads);
  touch_for_kernel(message->msg_name, message->msg_namelen, KernelUse::reads);
  touch_for_kernel(message->msg_control, message->msg_controllen, KernelUse::reads);
  touch_parts(message->msg_iov, message->msg_iovlen, KernelUse::reads);
}

/// What cannot be read from a file stays there, and is there when the call is repeated.
bool is_lasting(long file) {
  struct stat status {};
  const SystemCall ask{{file, reinterpret_cast<long>(&status)}};
  return call_kernel(SYS_fstat, ask) == 0 && S_ISREG(status.st_mode);
}

/// Until a time that the clock in argument 0 shows to the program, if argument 1 says so; else for so long.
void sleep_on_clock(OpenedCall& call) {
  constexpr int time_at = 2;
  touch(call.at(time_at), sizeof(timespec), KernelUse::reads);
  if ((call.arguments[1] & TIMER_ABSTIME) == 0) {
    call.timespec_at = time_at;
  } else if (call.at(time_at) != nullptr) {
    call.limit = real_limit(static_cast<clockid_t>(call.arguments[0]), *static_cast<const timespec*>(call.at(time_at)));
    call.arguments[time_at] = reinterpret_cast<long>(&call.limit);
  }
}

}  // namespace

void apply(const Use& use, OpenedCall& call) {
  using enum UseKind;
  const int i = use.argument;
  const std::size_t size = use.size == nullptr ? 0 : use.size(call);
  void* const memory = call.at(i);
  const auto replace = [&](int at, const void* own) { call.arguments[at] = reinterpret_cast<long>(own); };
  switch (use.kind) {
    case none: break;
    case in: touch(memory, size, KernelUse::reads); break;
    case out: touch(memory, size, KernelUse::writes); break;
    case text: touch_text(static_cast<const char*>(memory)); break;
    case path:
      touch_text(static_cast<const char*>(memory));
      if (begins_fortran_statement()) engine::note_unopened_unit(static_cast<const char*>(memory));
      break;
    case texts: touch_texts(static_cast<const char* const*>(memory)); break;
    case environment: touch_texts(environ); break;
    case in_parts: touch_parts(memory, size, KernelUse::reads); break;
    case out_parts: touch_parts(memory, size, KernelUse::writes); break;
    case in_message: touch_message(static_cast<const msghdr*>(memory)); break;
    case copied: replace(i, call.copies->structure(memory, size)); break;
    case copied_by_file:
      if (is_lasting(call.arguments[0])) return touch(memory, size, KernelUse::writes);
      [[fallthrough]];
    case copied_data: replace(i, call.copies->data(memory, size)); break;
    case copied_parts:
      if (is_lasting(call.arguments[0])) return touch_parts(memory, size, KernelUse::writes);
      replace(i, call.copies->parts(static_cast<const iovec*>(memory), size));
      break;
    case copied_message:
      if (memory != nullptr) replace(i, call.copies->message(static_cast<msghdr*>(memory)));
      break;
    case copied_sized:
      if (call.at(i + 1) == nullptr) break;
      replace(i + 1, call.copies->structure(call.at(i + 1), sizeof(socklen_t)));
      replace(i, call.copies->sized(memory, call.at(i + 1)));
      break;
    case copied_sets:
      for (int set = i; set < i + 3 && size <= 1 << 20; ++set)
        replace(set, call.copies->structure(call.at(set), (size + 63) / 64 * sizeof(long)));
      break;
    case moves_all:
      if (is_lasting(call.arguments[0])) call.moving = &use;
      break;
    case sleeps_ms:
    case sleeps:
    case sleeps_counted:
    case sleeps_on_clock:
      call.is_wait = call.goes_on = true;
      if (use.kind == sleeps_ms) call.milliseconds_at = i;
      if (use.kind == sleeps) call.timespec_at = i;
      if (use.kind == sleeps_on_clock) sleep_on_clock(call);
      break;
    case waits:
    case waits_until:
    case waits_for_received:
    case waits_for_sent:
      call.goes_on = true;
      if (use.kind == waits_until) call.timespec_at = i;
      if (use.kind == waits_for_received) call.socket_limit = SO_RCVTIMEO;
      if (use.kind == waits_for_sent) call.socket_limit = SO_SNDTIMEO;
      break;
    case opens_by_command:
      if (call.count(1) == F_DUPFD || call.count(1) == F_DUPFD_CLOEXEC) call.opening = opens_file;
      break;
    case opens_pair: touch(memory, 2 * sizeof(int), KernelUse::writes); [[fallthrough]];
    case opens_file:
    case replaces_file:
    case opens_stream:
    case opens_stream_on_file:
    case reopens_stream:
    case opens_own_stream: call.opening = use; break;
    case answers_error: call.answers_with_error = true; break;
    case rare: call.is_rare = true; break;
    case refused:
      if (is_shared(call[i])) end_if_shared(call);
      break;
    case refused_always:
      end_run({"the program calls ", call.name,
               ": what it starts would run unseen, without the shared memory. Use OpenMP's threads and tasks, "
               "posix_spawn, or pread and pwrite."});
  }
}

void end_if_shared(const OpenedCall& call) {
  for (int i = 0; i < 6; ++i) {
    if (!is_shared(call[i])) continue;
    end_run({"the program gives shared memory to the kernel by ", call.name,
             ", which this run-time does not serve. Give it a private copy, from mmap with MAP_32BIT, say."});
  }
}

std::size_t bytes_of_fcntl(const SystemCall& call) {
  switch (call.count(1)) {
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
std::size_t bytes_of_ioctl(const SystemCall& call) {
  const std::size_t request = call[1];
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

std::size_t bytes_of_prctl(const SystemCall& call) {
  return call.count(0) == PR_GET_NAME || call.count(0) == PR_SET_NAME ? 16 : 0;
}

}  // namespace sdsm::program
