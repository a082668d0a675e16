/// Functions of the C library that hand buffers to the kernel, and are more than a system call (system_calls.hpp).
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/unseen.hpp"

extern "C" [[noreturn]] void __chk_fail();

using namespace sdsm::program;

namespace {

/// Calls `then` with the texts of execl and the like: `first`, then those of `rest` until a null pointer. They lie on
/// the stack, as a child of vfork may call.
template <typename Then>
int with_texts(const char* first, std::va_list& rest, Then then) {
  std::va_list ahead;
  va_copy(ahead, rest);
  std::size_t count = 1;
  for (const char* text = first; text != nullptr; ++count) text = va_arg(ahead, const char*);
  va_end(ahead);
  const auto texts = static_cast<const char**>(__builtin_alloca(count * sizeof(const char*)));
  texts[0] = first;
  for (std::size_t i = 1; i < count; ++i) texts[i] = va_arg(rest, const char*);
  return then(texts);
}

/// execve, with the texts touched first.
int replace_process(const char* file, const char* const* texts, const char* const* environment) {
  const auto word = [](const void* address) { return reinterpret_cast<long>(address); };
  const long answer = serve(SYS_execve, {{word(file), word(texts), word(environment)}}, SDSM_CALLER);
  errno = static_cast<int>(-answer);
  return -1;
}

}  // namespace

SDSM_ENTRY int execl(const char* file, const char* first, ...) {
  std::va_list rest;
  va_start(rest, first);
  const int answer = with_texts(first, rest, [&](const char** texts) { return replace_process(file, texts, environ); });
  va_end(rest);
  return answer;
}
SDSM_ENTRY int execle(const char* file, const char* first, ...) {
  std::va_list rest;
  va_start(rest, first);
  const int answer = with_texts(
      first, rest, [&](const char** texts) { return replace_process(file, texts, va_arg(rest, const char* const*)); });
  va_end(rest);
  return answer;
}
SDSM_ENTRY int execlp(const char* file, const char* first, ...) {
  std::va_list rest;
  va_start(rest, first);
  const int answer = with_texts(first, rest, [&](const char** texts) {
    const auto touch_all = [&] {
      touch_for_kernel(file, std::strlen(file) + 1, KernelUse::reads);
      SystemCall{{reinterpret_cast<long>(texts)}}.texts(0);
      SystemCall{}.environment();
    };
    SDSM_NEXT_FUNCTION NextFunction<int(const char*, char* const*)> real{"execvp"};
    auto* const next = real.for_run_time();
    return with_open_pages(
        touch_all, [&] { return next(file, const_cast<char* const*>(texts)); },
        [](int given) { return given == -1 && errno == EFAULT; });
  });
  va_end(rest);
  return answer;
}

/// One argument too many for the table.
SDSM_ENTRY ssize_t __recvfrom_chk(int socket, void* buffer, std::size_t bytes, std::size_t room, int flags,
                                  sockaddr* address, socklen_t* length) {
  if (bytes > room) __chk_fail();
  const long answer = serve(SYS_recvfrom,
                            {{socket, reinterpret_cast<long>(buffer), static_cast<long>(bytes), flags,
                              reinterpret_cast<long>(address), reinterpret_cast<long>(length)}},
                            SDSM_CALLER);
  if (answer < 0) errno = static_cast<int>(-answer);
  return answer < 0 ? -1 : answer;
}
