/// System calls fail on protected pages instead of trapping (EFAULT). These functions, which hand buffers of the
/// program to the kernel, touch them first, as the program would: what the kernel reads is a read, what it writes a
/// write.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <type_traits>

#include "native/gomp/entry.hpp"
#include "native/program/next_function.hpp"
#include "native/program/program_image.hpp"
#include "native/program/shared_memory.hpp"
#include "native/program/unseen.hpp"

using namespace sdsm::program;

namespace {

void reads(const void* buffer, std::size_t bytes) {
  if (buffer != nullptr) touch_for_kernel(buffer, bytes, KernelUse::reads);
}
void writes(void* buffer, std::size_t bytes) {
  if (buffer != nullptr) touch_for_kernel(buffer, bytes, KernelUse::writes);
}
void reads_text(const char* text) {
  if (text != nullptr) reads(text, std::strlen(text) + 1);
}
template <typename Structure>
void fills(Structure* structure) {
  writes(structure, sizeof *structure);
}

/// An address or option, of as many bytes as `room` says, which becomes its size.
void fills_address(void* value, socklen_t* room) {
  if (room == nullptr) return;
  fills(room);
  writes(value, *room);
}

void each_part(const iovec* parts, int count, KernelUse use) {
  reads(parts, static_cast<std::size_t>(count > 0 ? count : 0) * sizeof *parts);
  for (int i = 0; i < count; ++i) touch_for_kernel(parts[i].iov_base, parts[i].iov_len, use);
}

/// What streams moved (a std::size_t) says nothing of how a call of theirs ended.
template <typename Answer>
bool is_bad_address(Answer answer) {
  if constexpr (std::is_pointer_v<Answer>) return answer == nullptr && errno == EFAULT;
  if constexpr (std::is_signed_v<Answer>) return answer == -1 && errno == EFAULT;
  return false;
}

/// Calls `touch` and `call` again while it fails for an address that the kernel could not use: a companion on the node
/// may have taken a lock, and shut the pages again, after they were touched. A call that fails so has done nothing. (If
/// the address is bad indeed, it still is at the end.)
template <typename Touch, typename Call>
auto with_open_pages(Touch touch, Call call) {
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

}  // namespace

/// Defines `name` to run `touches`, then the C library's own function.
#define SDSM_TOUCHING_AS(specifier, result, name, parameters, arguments, touches) \
  SDSM_ENTRY result name parameters specifier {                                   \
    static constinit NextFunction<result parameters> real{#name};                 \
    return with_open_pages([&] { touches; }, [&] { return real arguments; });     \
  }
#define SDSM_TOUCHING(...) SDSM_TOUCHING_AS(, __VA_ARGS__)
#define SDSM_TOUCHING_QUIETLY(...) SDSM_TOUCHING_AS(noexcept, __VA_ARGS__)

// Files and sockets. Not those by which the run-time itself sends messages (sendmsg, recvmsg, epoll_wait and the like),
// nor syscall(): a program that hands them a shared page that is not open gets EFAULT.
SDSM_TOUCHING(ssize_t, read, (int file, void* buffer, std::size_t bytes), (file, buffer, bytes), writes(buffer, bytes))
SDSM_TOUCHING(ssize_t, __read_chk, (int file, void* buffer, std::size_t bytes, std::size_t room),
              (file, buffer, bytes, room), writes(buffer, bytes))
SDSM_TOUCHING(ssize_t, write, (int file, const void* buffer, std::size_t bytes), (file, buffer, bytes),
              reads(buffer, bytes))
SDSM_TOUCHING(ssize_t, pread, (int file, void* buffer, std::size_t bytes, off_t at), (file, buffer, bytes, at),
              writes(buffer, bytes))
SDSM_TOUCHING(ssize_t, pread64, (int file, void* buffer, std::size_t bytes, off64_t at), (file, buffer, bytes, at),
              writes(buffer, bytes))
SDSM_TOUCHING(ssize_t, pwrite, (int file, const void* buffer, std::size_t bytes, off_t at), (file, buffer, bytes, at),
              reads(buffer, bytes))
SDSM_TOUCHING(ssize_t, pwrite64, (int file, const void* buffer, std::size_t bytes, off64_t at),
              (file, buffer, bytes, at), reads(buffer, bytes))
SDSM_TOUCHING(ssize_t, readv, (int file, const iovec* parts, int count), (file, parts, count),
              each_part(parts, count, KernelUse::writes))
SDSM_TOUCHING(ssize_t, writev, (int file, const iovec* parts, int count), (file, parts, count),
              each_part(parts, count, KernelUse::reads))
SDSM_TOUCHING(ssize_t, recv, (int socket, void* buffer, std::size_t bytes, int flags), (socket, buffer, bytes, flags),
              writes(buffer, bytes))
SDSM_TOUCHING(ssize_t, send, (int socket, const void* buffer, std::size_t bytes, int flags),
              (socket, buffer, bytes, flags), reads(buffer, bytes))
SDSM_TOUCHING_QUIETLY(int, pipe, (int* ends), (ends), writes(ends, 2 * sizeof(int)))
SDSM_TOUCHING(int, poll, (pollfd * files, nfds_t count, int timeout), (files, count, timeout),
              writes(files, count * sizeof *files))

SDSM_TOUCHING_QUIETLY(int, pipe2, (int* ends, int flags), (ends, flags), writes(ends, 2 * sizeof(int)))
SDSM_TOUCHING(ssize_t, recvfrom,
              (int socket, void* buffer, std::size_t bytes, int flags, sockaddr* from, socklen_t* room),
              (socket, buffer, bytes, flags, from, room), (writes(buffer, bytes), fills_address(from, room)))
SDSM_TOUCHING(ssize_t, sendto,
              (int socket, const void* buffer, std::size_t bytes, int flags, const sockaddr* to, socklen_t room),
              (socket, buffer, bytes, flags, to, room), (reads(buffer, bytes), reads(to, room)))
SDSM_TOUCHING_QUIETLY(int, socketpair, (int domain, int type, int protocol, int* ends), (domain, type, protocol, ends),
                      writes(ends, 2 * sizeof(int)))
SDSM_TOUCHING(int, accept, (int socket, sockaddr* address, socklen_t* room), (socket, address, room),
              fills_address(address, room))
SDSM_TOUCHING_QUIETLY(int, getsockname, (int socket, sockaddr* address, socklen_t* room), (socket, address, room),
                      fills_address(address, room))
SDSM_TOUCHING_QUIETLY(int, getpeername, (int socket, sockaddr* address, socklen_t* room), (socket, address, room),
                      fills_address(address, room))
SDSM_TOUCHING_QUIETLY(int, getsockopt, (int socket, int level, int option, void* value, socklen_t* room),
                      (socket, level, option, value, room), fills_address(value, room))
SDSM_TOUCHING(int, select, (int count, fd_set* in, fd_set* out, fd_set* special, timeval* limit),
              (count, in, out, special, limit), (fills(in), fills(out), fills(special), fills(limit)))
SDSM_TOUCHING_QUIETLY(int, timerfd_settime, (int file, int flags, const itimerspec* time, itimerspec* before),
                      (file, flags, time, before), (reads(time, sizeof *time), fills(before)))
SDSM_TOUCHING_QUIETLY(int, timerfd_gettime, (int file, itimerspec* time), (file, time), fills(time))
SDSM_TOUCHING_QUIETLY(ssize_t, sendfile, (int to, int from, off_t* at, std::size_t bytes), (to, from, at, bytes),
                      fills(at))
/// The kernel tells the size of what newer requests point to; the others' is at most that of a terminal's settings.
SDSM_ENTRY int ioctl(int file, unsigned long request, ...) noexcept {
  static constinit NextFunction<int(int, unsigned long, ...)> real{"ioctl"};
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const std::size_t bytes = _IOC_SIZE(request) > 0 ? _IOC_SIZE(request) : sizeof(termios);
  return with_open_pages([&] { writes(argument, bytes); }, [&] { return real(file, request, argument); });
}

// Streams: large transfers go between the buffer and the kernel without a copy.
SDSM_TOUCHING(std::size_t, fread, (void* buffer, std::size_t bytes, std::size_t count, FILE* stream),
              (buffer, bytes, count, stream), writes(buffer, bytes* count))
SDSM_TOUCHING(std::size_t, __fread_chk,
              (void* buffer, std::size_t room, std::size_t bytes, std::size_t count, FILE* stream),
              (buffer, room, bytes, count, stream), writes(buffer, bytes* count))
SDSM_TOUCHING(std::size_t, fread_unlocked, (void* buffer, std::size_t bytes, std::size_t count, FILE* stream),
              (buffer, bytes, count, stream), writes(buffer, bytes* count))
SDSM_TOUCHING(std::size_t, fwrite, (const void* buffer, std::size_t bytes, std::size_t count, FILE* stream),
              (buffer, bytes, count, stream), reads(buffer, bytes* count))
SDSM_TOUCHING(std::size_t, fwrite_unlocked, (const void* buffer, std::size_t bytes, std::size_t count, FILE* stream),
              (buffer, bytes, count, stream), reads(buffer, bytes* count))

// A stream's buffer in traced memory would be used by the kernel at any time: the library allocates its own instead.
SDSM_ENTRY int setvbuf(FILE* stream, char* /*buffer*/, int mode, std::size_t bytes) noexcept {
  static constinit NextFunction<int(FILE*, char*, int, std::size_t)> real{"setvbuf"};
  return real(stream, nullptr, mode, bytes);
}
SDSM_ENTRY void setbuf(FILE* stream, char* buffer) noexcept {
  setvbuf(stream, nullptr, buffer == nullptr ? _IONBF : _IOFBF, BUFSIZ);
}

// Names.
SDSM_TOUCHING(FILE*, fopen, (const char* path, const char* mode), (path, mode), reads_text(path))
SDSM_TOUCHING(FILE*, fopen64, (const char* path, const char* mode), (path, mode), reads_text(path))
SDSM_TOUCHING(FILE*, freopen, (const char* path, const char* mode, FILE* stream), (path, mode, stream),
              reads_text(path))
SDSM_TOUCHING_QUIETLY(int, unlink, (const char* path), (path), reads_text(path))
SDSM_TOUCHING_QUIETLY(int, remove, (const char* path), (path), reads_text(path))
SDSM_TOUCHING_QUIETLY(int, rmdir, (const char* path), (path), reads_text(path))
SDSM_TOUCHING_QUIETLY(int, chdir, (const char* path), (path), reads_text(path))
SDSM_TOUCHING_QUIETLY(int, mkdir, (const char* path, mode_t mode), (path, mode), reads_text(path))
SDSM_TOUCHING_QUIETLY(int, access, (const char* path, int mode), (path, mode), reads_text(path))
SDSM_TOUCHING_QUIETLY(int, truncate, (const char* path, off_t bytes), (path, bytes), reads_text(path))
SDSM_TOUCHING_QUIETLY(int, rename, (const char* from, const char* to), (from, to), (reads_text(from), reads_text(to)))
SDSM_TOUCHING(DIR*, opendir, (const char* path), (path), reads_text(path))
SDSM_TOUCHING_QUIETLY(int, stat, (const char* path, struct stat* status), (path, status),
                      (reads_text(path), fills(status)))
SDSM_TOUCHING_QUIETLY(int, lstat, (const char* path, struct stat* status), (path, status),
                      (reads_text(path), fills(status)))
SDSM_TOUCHING_QUIETLY(int, fstat, (int file, struct stat* status), (file, status), fills(status))
SDSM_TOUCHING_QUIETLY(int, fstatat, (int folder, const char* path, struct stat* status, int flags),
                      (folder, path, status, flags), (reads_text(path), fills(status)))
SDSM_TOUCHING_QUIETLY(int, statx, (int folder, const char* path, int flags, unsigned mask, struct statx* status),
                      (folder, path, flags, mask, status), (reads_text(path), fills(status)))
SDSM_TOUCHING_QUIETLY(int, statfs, (const char* path, struct statfs* status), (path, status),
                      (reads_text(path), fills(status)))
SDSM_TOUCHING_QUIETLY(int, fstatfs, (int file, struct statfs* status), (file, status), fills(status))
SDSM_TOUCHING_QUIETLY(ssize_t, getxattr, (const char* path, const char* name, void* value, std::size_t bytes),
                      (path, name, value, bytes), (reads_text(path), reads_text(name), writes(value, bytes)))
SDSM_TOUCHING_QUIETLY(ssize_t, readlink, (const char* path, char* buffer, std::size_t bytes), (path, buffer, bytes),
                      (reads_text(path), writes(buffer, bytes)))
SDSM_TOUCHING_QUIETLY(char*, getcwd, (char* buffer, std::size_t bytes), (buffer, bytes), writes(buffer, bytes))

#define SDSM_OPENING(name)                                                                      \
  SDSM_ENTRY int name(const char* path, int flags, ...) {                                       \
    static constinit NextFunction<int(const char*, int, ...)> real{#name};                      \
    va_list arguments;                                                                          \
    va_start(arguments, flags);                                                                 \
    const mode_t mode = va_arg(arguments, mode_t);                                              \
    va_end(arguments);                                                                          \
    return with_open_pages([&] { reads_text(path); }, [&] { return real(path, flags, mode); }); \
  }
SDSM_OPENING(open)
SDSM_OPENING(open64)

// What the kernel tells about the process and the machine.
SDSM_ENTRY int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  count_unseen(UnseenCall::clock_gettime, SDSM_CALLER);
  return with_open_pages([&] { fills(time); }, [&] { return real(clock, time); });
}
SDSM_TOUCHING_QUIETLY(int, getrusage, (__rusage_who_t who, rusage* usage), (who, usage), fills(usage))
SDSM_TOUCHING_QUIETLY(clock_t, times, (tms * times_used), (times_used), fills(times_used))
SDSM_TOUCHING_QUIETLY(int, uname, (utsname * name), (name), fills(name))
SDSM_TOUCHING_QUIETLY(int, gethostname, (char* name, std::size_t bytes), (name, bytes), writes(name, bytes))
SDSM_TOUCHING(ssize_t, getrandom, (void* buffer, std::size_t bytes, unsigned flags), (buffer, bytes, flags),
              writes(buffer, bytes))
SDSM_TOUCHING(int, getentropy, (void* buffer, std::size_t bytes), (buffer, bytes), writes(buffer, bytes))
SDSM_TOUCHING_QUIETLY(int, sysinfo, (struct sysinfo * info), (info), fills(info))
SDSM_TOUCHING_QUIETLY(int, getrlimit, (__rlimit_resource_t kind, rlimit* limit), (kind, limit), fills(limit))
SDSM_TOUCHING_QUIETLY(int, setrlimit, (__rlimit_resource_t kind, const rlimit* limit), (kind, limit),
                      reads(limit, sizeof *limit))
SDSM_TOUCHING_QUIETLY(int, getitimer, (__itimer_which_t kind, itimerval* timer), (kind, timer), fills(timer))
SDSM_TOUCHING_QUIETLY(int, setitimer, (__itimer_which_t kind, const itimerval* timer, itimerval* before),
                      (kind, timer, before), (reads(timer, sizeof *timer), fills(before)))
SDSM_TOUCHING_QUIETLY(int, getgroups, (int count, gid_t* groups), (count, groups),
                      writes(groups, static_cast<std::size_t>(count > 0 ? count : 0) * sizeof *groups))
SDSM_TOUCHING_QUIETLY(int, sched_getaffinity, (pid_t process, std::size_t bytes, cpu_set_t* set), (process, bytes, set),
                      writes(set, bytes))
SDSM_TOUCHING_QUIETLY(int, sched_setaffinity, (pid_t process, std::size_t bytes, const cpu_set_t* set),
                      (process, bytes, set), reads(set, bytes))
SDSM_TOUCHING_QUIETLY(int, mincore, (void* begin, std::size_t bytes, unsigned char* held), (begin, bytes, held),
                      writes(held, (bytes + page_bytes - 1) / page_bytes))
// A child's status is told once, so the kernel writes it where nobody shuts the page: to the thread's own stack.
SDSM_ENTRY pid_t waitpid(pid_t child, int* status, int options) {
  static constinit NextFunction<pid_t(pid_t, int*, int)> real{"waitpid"};
  int told = 0;
  const pid_t ended = real(child, &told, options);
  if (ended > 0 && status != nullptr) *status = told;
  return ended;
}
SDSM_ENTRY pid_t wait(int* status) {
  return waitpid(-1, status, 0);
}
