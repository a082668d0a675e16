/// Functions of the C library that hand the program memory to keep: called by the program, they take it from the
/// program's own heap, as malloc would, so that all its threads have it.
#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "native/guest/library/library_memory.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/engine.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"

extern "C" void* __libc_malloc(std::size_t);

using namespace sdsm::program;

namespace {

/// malloc and free of the process: a program may have its own, which the C library uses, too.
struct ProcessHeap {
  void* (*allocate)(std::size_t);
  void (*free)(void*);
};

/// Whether the program defines the function, and does not only have an address for this library's (as without -fpie).
bool is_defined_by_program(void* function) {
  Dl_info object;
  ElfW(Sym)* symbol = nullptr;
  return program_image.is_program(reinterpret_cast<std::uintptr_t>(function)) &&
         dladdr1(function, &object, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) != 0 && symbol != nullptr &&
         symbol->st_shndx != SHN_UNDEF;
}

const ProcessHeap& process_heap() {
  static const ProcessHeap found = [] {
    void* const allocate = dlsym(RTLD_DEFAULT, "malloc");
    if (!is_defined_by_program(allocate)) return ProcessHeap{nullptr, &std::free};
    return ProcessHeap{reinterpret_cast<void* (*)(std::size_t)>(allocate),
                       reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "free"))};
  }();
  return found;
}

}  // namespace

namespace sdsm::program {

char* room_for(std::size_t bytes, std::uintptr_t caller) {
  void* block = nullptr;
  if (process_heap().allocate != nullptr) {
    block = process_heap().allocate(bytes);
  } else if (program_image.is_program(caller)) {
    block = shared_heap::allocate({.bytes = bytes, .alignment = 16, .caller = caller});
  } else {
    block = __libc_malloc(bytes);
  }
  if (block == nullptr) errno = ENOMEM;
  return static_cast<char*>(block);
}

char* copy_of(const char* text, std::size_t length, std::uintptr_t caller) {
  char* copy = room_for(length + 1, caller);
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

void give_back(void* block) {
  process_heap().free(block);
}

bool has_own_malloc() {
  return process_heap().allocate != nullptr;
}

}  // namespace sdsm::program

const char* sdsm::engine::keep_text(const char* text, std::size_t length, std::uintptr_t caller) {
  return sdsm::program::copy_of(text, length, caller);
}

namespace {

int print(char** result, const char* format, std::va_list arguments, std::uintptr_t caller) {
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  char* text = length < 0 ? nullptr : room_for(static_cast<std::size_t>(length) + 1, caller);
  if (text != nullptr) std::vsnprintf(text, static_cast<std::size_t>(length) + 1, format, again);
  va_end(again);
  if (text == nullptr) return -1;
  *result = text;
  return length;
}

/// The stream and its buffer are the C library's; the line comes to a buffer of its own first.
ssize_t read_line(char** line, std::size_t* room, int delimiter, FILE* stream, std::uintptr_t caller) {
  SDSM_NEXT_FUNCTION NextFunction<ssize_t(char**, std::size_t*, int, FILE*)> real{"getdelim"};
  if (!program_image.is_program(caller) || line == nullptr || room == nullptr) {
    return real(line, room, delimiter, stream);
  }
  char* own = nullptr;
  std::size_t own_room = 0;
  const ssize_t length = real(&own, &own_room, delimiter, stream);
  if (length >= 0) {
    const std::size_t needed = static_cast<std::size_t>(length) + 1;
    if (*line == nullptr || *room < needed) {
      constexpr std::size_t least = 120;  // the next lines may be longer
      const std::size_t wanted = needed < least ? least : 2 * needed;
      char* larger = room_for(wanted, caller);
      if (larger == nullptr) {
        process_heap().free(own);
        return -1;
      }
      process_heap().free(*line);
      *line = larger;
      *room = wanted;
    }
    std::memcpy(*line, own, needed);
  }
  const int saved_errno = errno;
  process_heap().free(own);
  errno = saved_errno;
  return length;
}

}  // namespace

#define SDSM_COPYING(name, parameters, length) \
  SDSM_ENTRY char* name parameters noexcept {  \
    return copy_of(text, length, SDSM_CALLER); \
  }
SDSM_COPYING(strdup, (const char* text), std::strlen(text))
SDSM_COPYING(__strdup, (const char* text), std::strlen(text))
SDSM_COPYING(strndup, (const char* text, std::size_t most), strnlen(text, most))
SDSM_COPYING(__strndup, (const char* text, std::size_t most), strnlen(text, most))

SDSM_ENTRY_AS(int, vasprintf, (char** result, const char* format, std::va_list arguments) noexcept,
              print(result, format, arguments, SDSM_CALLER))
SDSM_ENTRY_AS(int, __vasprintf_chk, (char** result, int /*flag*/, const char* format, std::va_list arguments) noexcept,
              print(result, format, arguments, SDSM_CALLER))
SDSM_VARIADIC_ENTRY(asprintf, (char** result, const char* format, ...) noexcept, format,
                    print(result, format, list, SDSM_CALLER))
SDSM_VARIADIC_ENTRY(__asprintf_chk, (char** result, int /*flag*/, const char* format, ...) noexcept, format,
                    print(result, format, list, SDSM_CALLER))

SDSM_ENTRY_AS(ssize_t, getdelim, (char** line, std::size_t* room, int delimiter, FILE* stream),
              read_line(line, room, delimiter, stream, SDSM_CALLER))
SDSM_ENTRY ssize_t __getdelim(char** line, std::size_t* room, int delimiter, FILE* stream) SDSM_ALIAS(getdelim);
SDSM_ENTRY_AS(ssize_t, getline, (char** line, std::size_t* room, FILE* stream),
              read_line(line, room, '\n', stream, SDSM_CALLER))
