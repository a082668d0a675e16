/// Streams of the C library move large blocks, and long texts, between the program's memory and the kernel without a
/// copy. If a local peer has shut a page meanwhile, the call has moved a part, and goes on from there.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cwchar>

#include "native/guest/kernel/open_files.hpp"
#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/library/library_memory.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"

extern "C" [[noreturn]] void __chk_fail();
// `stdin` and `stdout` themselves are variables of the program's, in shared memory.
extern "C" FILE _IO_2_1_stdin_, _IO_2_1_stdout_;
extern "C" void* __libc_memalign(std::size_t, std::size_t);
extern "C" void __libc_free(void*);
extern "C" int __vsnprintf_chk(char*, std::size_t, int, std::size_t, const char*, std::va_list) noexcept;

using namespace sdsm::program;

namespace {

/// Marks in FILE::_flags (bits/types/struct_FILE.h, and libio.h of the C library's source).
constexpr int error_mark = 0x20;
constexpr int read_only_mark = 0x08;
constexpr int unbuffered_mark = 0x02, line_buffered_mark = 0x200, putting_mark = 0x800;

/// While one lives, no other thread of the process uses the stream.
class Locked {
 public:
  explicit Locked(FILE* stream) : stream_(stream) { flockfile(stream_); }
  ~Locked() { funlockfile(stream_); }
  Locked& operator=(Locked&&) = delete;

 private:
  FILE* stream_;
};

/// Moves `bytes` by `transfer`, which is fread or fwrite without a lock, and returns how many it moved. A buffer may be
/// said to be larger than what is there: it is touched piece by piece.
template <typename Byte, typename Transfer>
std::size_t move_bytes(Transfer* transfer, Byte* buffer, std::size_t bytes, FILE* stream, KernelUse use) {
  constexpr std::size_t most = 1 << 20;
  const int error_before = errno;
  const bool has_failed_before = (stream->_flags & error_mark) != 0;
  for (std::size_t done = 0;;) {
    const std::size_t end = done + std::min(most, bytes - done);
    with_open_pages([&] { touch_for_kernel(buffer + done, end - done, use); },
                    [&] {
                      errno = 0;
                      done += transfer(buffer + done, 1, end - done, stream);
                      return done;
                    },
                    [&](std::size_t) {
                      if (done == end || errno != EFAULT) return false;
                      if (!has_failed_before) stream->_flags &= ~error_mark;
                      return true;
                    });
    if (done == end && done < bytes) continue;
    if (done < bytes && errno == EFAULT) stream->_flags |= error_mark;
    if (errno == 0) errno = error_before;
    return done;
  }
}

using Read = std::size_t(void*, std::size_t, std::size_t, FILE*);
using Write = std::size_t(const void*, std::size_t, std::size_t, FILE*);

/// Bytes that stdout takes without writing, if it collects more than a line.
std::size_t room_of_stdout(const FILE* stream) {
  if (stream != &_IO_2_1_stdout_ || (stream->_flags & (unbuffered_mark | line_buffered_mark)) != 0) return SIZE_MAX;
  if (stream->_IO_buf_base == nullptr) return BUFSIZ / 2;  // at least what it is going to allocate: a block
  const char* const next = (stream->_flags & putting_mark) != 0 ? stream->_IO_write_ptr : stream->_IO_buf_base;
  return static_cast<std::size_t>(stream->_IO_buf_end - next);
}

/// Writes what stdout has collected, but for a line without an end. False if that is all.
bool write_whole_lines(std::uintptr_t caller) {
  SDSM_NEXT_FUNCTION NextFunction<Write> real{"fwrite_unlocked"};
  FILE* const stream = &_IO_2_1_stdout_;
  if ((stream->_flags & putting_mark) == 0) return false;
  const auto collected = static_cast<std::size_t>(stream->_IO_write_ptr - stream->_IO_write_base);
  const auto* const newline = static_cast<const char*>(memrchr(stream->_IO_write_base, '\n', collected));
  char begun[BUFSIZ];
  if (newline == nullptr || stream->_IO_write_ptr - newline > static_cast<std::ptrdiff_t>(sizeof begun)) return false;
  const auto bytes = static_cast<std::size_t>(stream->_IO_write_ptr - newline - 1);
  std::memcpy(begun, newline + 1, bytes);
  stream->_IO_write_ptr -= bytes;
  const bool is_written = fflush_unlocked(stream) == 0;
  return real.for_caller(caller)(begun, 1, bytes, stream) == bytes && is_written;
}

/// Several processes write to stdout's file, and each write is one of whole lines. So a text that its buffer has no
/// room for is divided behind a line. Returns how many bytes are written; a line that no buffer holds is left.
template <typename Transfer>
std::size_t write_by_lines(const std::byte* text, std::size_t bytes, FILE* stream, Transfer write,
                           std::uintptr_t caller) {
  std::size_t done = 0;
  while (bytes - done > room_of_stdout(stream)) {
    const auto* const newline = static_cast<const std::byte*>(memrchr(text + done, '\n', room_of_stdout(stream)));
    if (newline == nullptr) {
      if (!write_whole_lines(caller)) break;
      continue;
    }
    const auto whole = static_cast<std::size_t>(newline + 1 - (text + done));
    const std::size_t written = write(text + done, whole);
    done += written;
    if (written < whole || fflush_unlocked(stream) != 0) break;
  }
  return done;
}

/// Before one more sign.
void make_room_in_stdout(const FILE* stream, std::uintptr_t caller) {
  if (room_of_stdout(stream) == 0) write_whole_lines(caller);
}

/// How many of `count` elements; a part of one may have come, too.
std::size_t read_elements(void* buffer, std::size_t bytes, std::size_t count, FILE* stream, std::uintptr_t caller) {
  SDSM_NEXT_FUNCTION NextFunction<Read> real{"fread_unlocked"};
  if (bytes == 0 || count == 0) return 0;
  return move_bytes(real.for_caller(caller), static_cast<std::byte*>(buffer), bytes * count, stream,
                    KernelUse::writes) /
         bytes;
}
std::size_t write_elements(const void* buffer, std::size_t bytes, std::size_t count, FILE* stream,
                           std::uintptr_t caller) {
  SDSM_NEXT_FUNCTION NextFunction<Write> real{"fwrite_unlocked"};
  if (bytes == 0 || count == 0) return 0;
  // Another process may write between two pieces: what does not fit beside the last texts comes after them.
  const bool holds_output = stream != &_IO_2_1_stdout_ && stream->_IO_write_ptr > stream->_IO_write_base;
  const auto room = static_cast<std::size_t>(stream->_IO_buf_end - stream->_IO_write_ptr);
  if (holds_output && bytes * count > room && open_files::are_shared()) fflush_unlocked(stream);
  const auto* const begin = static_cast<const std::byte*>(buffer);
  const auto write = [&](const std::byte* text, std::size_t length) {
    return move_bytes(real.for_caller(caller), text, length, stream, KernelUse::reads);
  };
  const std::size_t done = write_by_lines(begin, bytes * count, stream, write, caller);
  return (done + write(begin + done, bytes * count - done)) / bytes;
}

/// As fputs and printf, which fail where fwrite does not: the text is in the buffer, and a flush behind it has failed.
bool write_text(const char* text, std::size_t length, FILE* stream, std::uintptr_t caller) {
  if (fwide(stream, -1) > 0) return false;
  const int mark_before = stream->_flags & error_mark;
  stream->_flags &= ~error_mark;
  const bool is_written = length == 0 || write_elements(text, length, 1, stream, caller) == 1;
  const bool has_failed = (stream->_flags & error_mark) != 0;
  stream->_flags |= mark_before;
  return is_written && !has_failed;
}

void check_room(std::size_t room, std::size_t bytes, std::size_t count) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(bytes, count, &all) || all > room) __chk_fail();
}

/// `flag`: in functions with checks, whether %n must lie in memory that cannot be written; 0 in others.
int text_of(char* text, std::size_t room, int flag, const char* format, std::va_list arguments) {
  return flag == 0 ? std::vsnprintf(text, room, format, arguments)
                   : __vsnprintf_chk(text, room, flag, room, format, arguments);
}

/// Makes the text in memory that no local peer shuts (the thread's stack, or the process's own), and calls `write` with
/// it. Its length; -1 if something failed.
template <typename WriteIt>
int print(int flag, const char* format, std::va_list arguments, WriteIt write) {
  const int error = errno;  // for %m
  char near[1024];
  std::va_list again;
  va_copy(again, arguments);
  const int length = text_of(near, sizeof near, flag, format, arguments);
  const auto bytes = static_cast<std::size_t>(std::max(length, 0));
  bool is_written = length >= 0;
  if (is_written && bytes < sizeof near) {
    is_written = write(near, bytes);
  } else if (is_written) {
    constexpr std::uintptr_t none_of_programs = 0;
    char* const far = room_for(bytes + 1, none_of_programs);
    errno = error;
    is_written = far != nullptr && text_of(far, bytes + 1, flag, format, again) == length && write(far, bytes);
    if (far != nullptr) give_back(far);
  }
  va_end(again);
  return is_written ? length : -1;
}

int print_to_stream(FILE* stream, int flag, const char* format, std::va_list arguments, std::uintptr_t caller) {
  const Locked lock(stream);
  if ((stream->_flags & read_only_mark) != 0) {
    stream->_flags |= error_mark;
    errno = EBADF;
    return -1;
  }
  return print(flag, format, arguments,
               [&](const char* text, std::size_t bytes) { return write_text(text, bytes, stream, caller); });
}
int print_to_file(int file, int flag, const char* format, std::va_list arguments, std::uintptr_t caller) {
  return print(flag, format, arguments, [&](const char* text, std::size_t bytes) {
    std::size_t done = 0;
    do {
      const long answer = as_library(
          serve(SYS_write, {{file, reinterpret_cast<long>(text + done), static_cast<long>(bytes - done)}}, caller));
      if (answer < 0) return false;
      done += static_cast<std::size_t>(answer);
    } while (done < bytes);
    return true;
  });
}

}  // namespace

SDSM_ENTRY std::size_t fread(void* buffer, std::size_t bytes, std::size_t count, FILE* stream) {
  const Locked lock(stream);
  return read_elements(buffer, bytes, count, stream, SDSM_CALLER);
}
SDSM_ENTRY_AS(std::size_t, fread_unlocked, (void* buffer, std::size_t bytes, std::size_t count, FILE* stream),
              read_elements(buffer, bytes, count, stream, SDSM_CALLER))
SDSM_ENTRY std::size_t __fread_chk(void* buffer, std::size_t room, std::size_t bytes, std::size_t count, FILE* stream) {
  check_room(room, bytes, count);
  const Locked lock(stream);
  return read_elements(buffer, bytes, count, stream, SDSM_CALLER);
}
SDSM_ENTRY std::size_t __fread_unlocked_chk(void* buffer, std::size_t room, std::size_t bytes, std::size_t count,
                                            FILE* stream) {
  check_room(room, bytes, count);
  return read_elements(buffer, bytes, count, stream, SDSM_CALLER);
}
SDSM_ENTRY std::size_t fwrite(const void* buffer, std::size_t bytes, std::size_t count, FILE* stream) {
  const Locked lock(stream);
  return write_elements(buffer, bytes, count, stream, SDSM_CALLER);
}
SDSM_ENTRY_AS(std::size_t, fwrite_unlocked, (const void* buffer, std::size_t bytes, std::size_t count, FILE* stream),
              write_elements(buffer, bytes, count, stream, SDSM_CALLER))

SDSM_ENTRY int fputs(const char* text, FILE* stream) {
  const Locked lock(stream);
  return write_text(text, std::strlen(text), stream, SDSM_CALLER) ? 1 : EOF;
}
SDSM_ENTRY_AS(int, fputs_unlocked, (const char* text, FILE* stream),
              write_text(text, std::strlen(text), stream, SDSM_CALLER) ? 1 : EOF)
SDSM_ENTRY int puts(const char* text) {
  const Locked lock(stdout);
  const std::size_t length = std::strlen(text);
  if (!write_text(text, length, stdout, SDSM_CALLER) || putc_unlocked('\n', stdout) == EOF) return EOF;
  return static_cast<int>(std::min<std::size_t>(INT_MAX, length + 1));
}

// One sign at a time; what the compiler puts in place calls __overflow where the buffer is full.

SDSM_ENTRY_BEFORE(int, __overflow, (FILE * stream, int sign), (stream, sign), make_room_in_stdout(stream, SDSM_CALLER))
SDSM_ENTRY_BEFORE(int, putc, (int sign, FILE* stream), (sign, stream), make_room_in_stdout(stream, SDSM_CALLER))
SDSM_ENTRY_BEFORE(int, fputc, (int sign, FILE* stream), (sign, stream), make_room_in_stdout(stream, SDSM_CALLER))
SDSM_ENTRY_BEFORE(int, putchar, (int sign), (sign), make_room_in_stdout(&_IO_2_1_stdout_, SDSM_CALLER))

// printf and its kin: with arguments, or with a std::va_list of them.

SDSM_VARIADIC_ENTRY(printf, (const char* format, ...), format, print_to_stream(stdout, 0, format, list, SDSM_CALLER))
SDSM_VARIADIC_ENTRY(__printf_chk, (int flag, const char* format, ...), format,
                    print_to_stream(stdout, flag, format, list, SDSM_CALLER))
SDSM_VARIADIC_ENTRY(fprintf, (FILE * stream, const char* format, ...), format,
                    print_to_stream(stream, 0, format, list, SDSM_CALLER))
SDSM_VARIADIC_ENTRY(__fprintf_chk, (FILE * stream, int flag, const char* format, ...), format,
                    print_to_stream(stream, flag, format, list, SDSM_CALLER))
SDSM_VARIADIC_ENTRY(dprintf, (int file, const char* format, ...), format,
                    print_to_file(file, 0, format, list, SDSM_CALLER))
SDSM_VARIADIC_ENTRY(__dprintf_chk, (int file, int flag, const char* format, ...), format,
                    print_to_file(file, flag, format, list, SDSM_CALLER))
SDSM_ENTRY_AS(int, vprintf, (const char* format, std::va_list list),
              print_to_stream(stdout, 0, format, list, SDSM_CALLER))
SDSM_ENTRY_AS(int, __vprintf_chk, (int flag, const char* format, std::va_list list),
              print_to_stream(stdout, flag, format, list, SDSM_CALLER))
SDSM_ENTRY_AS(int, vfprintf, (FILE * stream, const char* format, std::va_list list),
              print_to_stream(stream, 0, format, list, SDSM_CALLER))
SDSM_ENTRY_AS(int, __vfprintf_chk, (FILE * stream, int flag, const char* format, std::va_list list),
              print_to_stream(stream, flag, format, list, SDSM_CALLER))
SDSM_ENTRY_AS(int, vdprintf, (int file, const char* format, std::va_list list),
              print_to_file(file, 0, format, list, SDSM_CALLER))
SDSM_ENTRY_AS(int, __vdprintf_chk, (int file, int flag, const char* format, std::va_list list),
              print_to_file(file, flag, format, list, SDSM_CALLER))

// A stream's buffer in shared memory would be used by the kernel at any time: the library allocates its own instead.
namespace {
SDSM_NEXT_FUNCTION NextFunction<int(FILE*, char*, int, std::size_t)> real_setvbuf{"setvbuf"};
}  // namespace

SDSM_ENTRY int setvbuf(FILE* stream, char* /*buffer*/, int mode, std::size_t bytes) noexcept {
  return real_setvbuf(stream, nullptr, mode, bytes);
}

namespace {
/// Before a buffer that a stream has from here; the rest of the page is the buffer's, so that it can be looked for
/// before any buffer at that place of a page.
struct PrivateBuffer {
  std::uint64_t mark = 0;  ///< is_mark xor its address
  char unused[56] = {};
  char bytes[BUFSIZ];
};
constexpr std::uint64_t is_mark = 0x5d5d627566666572;

/// Null if the stream has another's buffer.
PrivateBuffer* private_buffer_of(const FILE* stream) {
  const auto address = reinterpret_cast<std::uintptr_t>(stream->_IO_buf_base);
  if (address % page_bytes != offsetof(PrivateBuffer, bytes)) return nullptr;
  auto* const found = reinterpret_cast<PrivateBuffer*>(address - offsetof(PrivateBuffer, bytes));
  return !is_shared(address) && found->mark == (is_mark ^ address) ? found : nullptr;
}
}  // namespace

SDSM_ENTRY int fclose(FILE* stream) {
  SDSM_NEXT_FUNCTION NextFunction<int(FILE*)> real{"fclose"};
  PrivateBuffer* const buffer = has_own_malloc() ? private_buffer_of(stream) : nullptr;
  int answer = 0;
  {
    if (open_files::is_room(stream)) std::fflush(stream);  // which may wait for others
    const open_files::Closing noted(stream->_fileno, stream);
    answer = real.for_caller(SDSM_CALLER)(stream);
  }
  if (buffer != nullptr) buffer->mark = 0;
  __libc_free(buffer);
  return answer;
}

void sdsm::program::keep_buffer_private(FILE* stream) {
  if (stream == nullptr || !has_own_malloc()) return;
  const int error = errno;
  auto* const buffer = static_cast<PrivateBuffer*>(__libc_memalign(page_bytes, sizeof(PrivateBuffer)));
  if (buffer != nullptr) {
    buffer->mark = is_mark ^ reinterpret_cast<std::uintptr_t>(buffer->bytes);
    const int mode = isatty(fileno(stream)) == 1 ? _IOLBF : _IOFBF;
    real_setvbuf(stream, buffer->bytes, mode, sizeof buffer->bytes);
  }
  errno = error;
}
void sdsm::program::keep_standard_buffers_private() {
  for (FILE* stream : {&_IO_2_1_stdin_, &_IO_2_1_stdout_}) keep_buffer_private(stream);
}

SDSM_ENTRY void setbuf(FILE* stream, char* buffer) noexcept {
  setvbuf(stream, nullptr, buffer == nullptr ? _IONBF : _IOFBF, BUFSIZ);
}
