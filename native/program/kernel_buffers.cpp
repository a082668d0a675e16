/// Functions of the C library that hand buffers of the program to the kernel, and are more than a system call
/// (system_calls.hpp).
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <type_traits>

#include "native/gomp/entry.hpp"
#include "native/program/next_function.hpp"
#include "native/program/program_image.hpp"
#include "native/program/shared_memory.hpp"
#include "native/program/system_calls.hpp"
#include "native/program/unseen.hpp"

using namespace sdsm::program;

namespace {

void reads(const void* buffer, std::size_t bytes) {
  if (buffer != nullptr) touch_for_kernel(buffer, bytes, KernelUse::reads);
}
void writes(void* buffer, std::size_t bytes) {
  if (buffer != nullptr) touch_for_kernel(buffer, bytes, KernelUse::writes);
}
template <typename Structure>
void fills(Structure* structure) {
  writes(structure, sizeof *structure);
}

/// What streams moved (a std::size_t) says nothing of how a call of theirs ended.
template <typename Answer>
bool is_bad_address(Answer answer) {
  if constexpr (std::is_pointer_v<Answer>) return answer == nullptr && errno == EFAULT;
  if constexpr (std::is_signed_v<Answer>) return answer == -1 && errno == EFAULT;
  return false;
}

}  // namespace

/// Defines `name` to run `touches`, then the C library's own function.
#define SDSM_TOUCHING_AS(specifier, result, name, parameters, arguments, touches)                     \
  SDSM_ENTRY result name parameters specifier {                                                       \
    static constinit NextFunction<result parameters> real{#name};                                     \
    return with_open_pages([&] { touches; }, [&] { return real arguments; }, is_bad_address<result>); \
  }
#define SDSM_TOUCHING(...) SDSM_TOUCHING_AS(, __VA_ARGS__)

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

// What the kernel tells about the process and the machine.
SDSM_ENTRY int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  count_unseen(UnseenCall::clock_gettime, SDSM_CALLER);
  return with_open_pages([&] { fills(time); }, [&] { return real(clock, time); }, is_bad_address<int>);
}
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
