/// Functions of the C library that allocate memory for the program. Those that only compute allocate from the program's
/// heap. Results of the others, which also allocate what the kernel writes to and nobody may share, are moved there.
#include "native/guest/library/library_memory.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <iterator>

#include "native/guest/kernel/fortran.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/own_calls.hpp"
#include "native/guest/runtime/program_image.hpp"

using namespace sdsm::program;

namespace {

/// The caller for which the C library allocates memory; 0: it does so for itself.
constinit thread_local std::uintptr_t wanted_by = 0;

/// What the C library returned, moved to the program's heap; `block` if it lies there. Null without memory.
template <typename Block>
Block* moved(Block* block, std::size_t bytes, std::uintptr_t caller) {
  if (block == nullptr || shared_heap::holds(block)) return block;
  char* const copy = room_for(bytes, caller);
  if (copy != nullptr) std::memcpy(copy, block, bytes);
  give_back(block);
  return reinterpret_cast<Block*>(copy);
}

char* moved_text(char* text, std::uintptr_t caller) {
  return text == nullptr ? nullptr : moved(text, std::strlen(text) + 1, caller);
}

/// The functions of libgfortran whose results it allocates, without what says of which type and rank they are, and
/// whether they have a mask. What its others allocate is theirs: units, buffers, states of random numbers.
constexpr const char* fortran_results[] = {
    "all_",    "any_",     "bessel_",  "count_",  "cshift",  "ctime",  "eoshift",   "fdate",  "findloc", "iall_",
    "iany_",   "iparity",  "internal", "matmul_", "maxloc",  "maxval", "minloc",    "minval", "norm2_",  "pack",
    "parity_", "product_", "reshape",  "spread",  "string_", "sum_",   "transpose", "unpack",
};

bool allocates_result(const char* name) {
  constexpr char prefix[] = "_gfortran_";
  if (std::strcmp(name, "CFI_allocate") == 0) return true;
  if (std::strncmp(name, prefix, sizeof prefix - 1) != 0) return false;
  name += sizeof prefix - 1;
  const bool may_be_masked = *name == 'm' || *name == 's';  // mmaxval, ssum
  for (const char* result : fortran_results) {
    const std::size_t length = std::strlen(result);
    if (std::strncmp(name, result, length) == 0) return true;
    if (may_be_masked && std::strncmp(name + 1, result, length) == 0) return true;
  }
  return false;
}

_Unwind_Reason_Code leave_library(_Unwind_Context* context, void* found) {
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  const bool is_inside = program_image.whole_fortran_library.holds(address);
  std::uintptr_t& caller = *static_cast<std::uintptr_t*>(found);
  if (is_inside) caller = address;
  if (is_inside || caller == 0) return _URC_NO_REASON;
  caller = address;
  return _URC_END_OF_STACK;
}

/// The function that code before `caller`, where it is to return, has called through the linker's table; else null.
const void* called_before(std::uintptr_t caller) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<const std::uint8_t*>(address); };
  const auto behind = [&](std::uintptr_t field) {
    std::int32_t distance = 0;
    std::memcpy(&distance, at(field), sizeof distance);
    return field + sizeof distance + static_cast<std::uintptr_t>(std::intptr_t{distance});
  };
  std::uintptr_t entry = caller - 4;  // of call [entry], as with -fno-plt
  if (*at(caller - 5) == 0xe8) {      // call stub; stub: endbr64; bnd jmp [entry], the first and the prefix perhaps
    std::uintptr_t stub = behind(caller - 4);
    if (!program_image.is_own_code(stub)) return nullptr;
    constexpr std::uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    if (std::memcmp(at(stub), endbr64, sizeof endbr64) == 0) stub += sizeof endbr64;
    if (*at(stub) == 0xf2) ++stub;
    if (*at(stub) != 0xff || *at(stub + 1) != 0x25) return nullptr;
    entry = stub + 2;
  } else if (*at(caller - 6) != 0xff || *at(caller - 5) != 0x15) {
    return nullptr;
  }
  const void* function = nullptr;
  std::memcpy(&function, at(behind(entry)), sizeof function);
  return function;
}

/// Functions of libgfortran that were looked up, each with whether it allocates a result: to find a name takes longer
/// than all that internal I/O does.
constinit std::atomic<std::uintptr_t> looked_up[64] = {};

bool allocates_result(const void* function) {
  constexpr std::uintptr_t is_result = std::uintptr_t{1} << 63;
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  std::atomic<std::uintptr_t>& known = looked_up[address / 16 % std::size(looked_up)];
  const std::uintptr_t last = known.load(std::memory_order_relaxed);
  if ((last & ~is_result) == address) return (last & is_result) != 0;
  Dl_info place{};
  const bool is_named = dladdr(function, &place) != 0 && place.dli_sname != nullptr;
  const bool answer = is_named && allocates_result(place.dli_sname);
  // Other files may be unloaded.
  const bool stays = program_image.whole_fortran_library.holds(address) || is_run_time(address);
  if (stays) known.store(answer ? address | is_result : address, std::memory_order_relaxed);
  return answer;
}

/// The program's code that libgfortran at `code` allocates a result for; else `code`. The library's own frames do not
/// show which of its functions was called: that may have jumped to another one.
std::uintptr_t wants_result(std::uintptr_t code) {
  std::uintptr_t caller = 0;
  _Unwind_Backtrace(leave_library, &caller);
  if (!program_image.is_own_code(caller)) return code;
  const void* const function = called_before(caller);
  return function != nullptr && allocates_result(function) ? caller : code;
}

}  // namespace

namespace sdsm::program {

AllocatesForProgram::AllocatesForProgram(std::uintptr_t caller) : before_(wanted_by) {
  if (program_image.is_program(caller)) wanted_by = caller;
}
AllocatesForProgram::~AllocatesForProgram() {
  wanted_by = before_;
}

std::uintptr_t allocates_for(std::uintptr_t caller) {
  if (wanted_by != 0 && program_image.whole_c_library.holds(caller)) return wanted_by;
  const bool may_be_result = program_image.whole_fortran_library.holds(caller) && !begins_fortran_statement();
  return may_be_result ? wants_result(caller) : caller;
}

}  // namespace sdsm::program

SDSM_ENTRY_BEFORE(wchar_t*, wcsdup, (const wchar_t* text) noexcept, (text),
                  const AllocatesForProgram marked(SDSM_CALLER))

namespace {
template <typename Char>
int scan(int (*real)(const Char*, const Char*, std::va_list), const Char* text, const Char* format, std::va_list list,
         std::uintptr_t caller) {
  const AllocatesForProgram marked(caller);
  return real(text, format, list);
}
/// The stream's buffer is the C library's: peeking at the input makes it before texts are allocated.
int scan(int (*real)(FILE*, const char*, std::va_list), FILE* stream, const char* format, std::va_list list,
         std::uintptr_t caller) {
  if (std::strchr(format, 'm') == nullptr) return real(stream, format, list);
  std::ungetc(std::getc(stream), stream);
  const AllocatesForProgram marked(caller);
  return real(stream, format, list);
}
}  // namespace

// Texts that the program wants by `%m` in a format. Headers give some of the names to others.
#define SDSM_SCAN(list_name, input) scan(real_##list_name.for_caller(SDSM_CALLER), input, format, list, SDSM_CALLER)
#define SDSM_SCANNING(name, list_name, Input, Char)                                                    \
  SDSM_NEXT_FUNCTION NextFunction<int(Input, const Char*, std::va_list)> real_##list_name{#list_name}; \
  SDSM_ENTRY int own_##list_name(Input input, const Char* format, std::va_list list) asm(#list_name);  \
  SDSM_ENTRY_AS(int, own_##list_name, (Input input, const Char* format, std::va_list list),            \
                SDSM_SCAN(list_name, input))                                                           \
  SDSM_ENTRY int own_##name(Input input, const Char* format, ...) asm(#name);                          \
  SDSM_VARIADIC_ENTRY(own_##name, (Input input, const Char* format, ...), format, SDSM_SCAN(list_name, input))
SDSM_SCANNING(sscanf, vsscanf, const char*, char)
SDSM_SCANNING(__isoc99_sscanf, __isoc99_vsscanf, const char*, char)
SDSM_SCANNING(__isoc23_sscanf, __isoc23_vsscanf, const char*, char)
SDSM_SCANNING(swscanf, vswscanf, const wchar_t*, wchar_t)
SDSM_SCANNING(__isoc99_swscanf, __isoc99_vswscanf, const wchar_t*, wchar_t)
SDSM_SCANNING(__isoc23_swscanf, __isoc23_vswscanf, const wchar_t*, wchar_t)
SDSM_SCANNING(fscanf, vfscanf, FILE*, char)
SDSM_SCANNING(__isoc99_fscanf, __isoc99_vfscanf, FILE*, char)
SDSM_SCANNING(__isoc23_fscanf, __isoc23_vfscanf, FILE*, char)

#define SDSM_SCANNING_INPUT(name, list_name)                     \
  SDSM_ENTRY int own_##name(const char* format, ...) asm(#name); \
  SDSM_VARIADIC_ENTRY(own_##name, (const char* format, ...), format, SDSM_SCAN(list_name, stdin))
SDSM_SCANNING_INPUT(scanf, vfscanf)
SDSM_SCANNING_INPUT(__isoc99_scanf, __isoc99_vfscanf)
SDSM_SCANNING_INPUT(__isoc23_scanf, __isoc23_vfscanf)

// Texts in memory that the C library may not share while it makes them.
namespace {
char* current_folder(char* room, std::size_t bytes, std::uintptr_t caller) {
  SDSM_NEXT_FUNCTION NextFunction<char*(char*, std::size_t)> real{"getcwd"};
  if (is_run_time(caller)) return real.for_run_time()(room, bytes);
  // With a size, the block has that size.
  if (room == nullptr && bytes > 0) return moved(real(room, bytes), bytes, caller);
  if (room == nullptr) return moved_text(real(room, bytes), caller);
  if (bytes == 0) {
    errno = EINVAL;
    return nullptr;
  }
  char* const path = real(nullptr, 0);
  if (path == nullptr) return nullptr;
  const std::size_t needed = std::strlen(path) + 1;
  if (needed <= bytes) std::memcpy(room, path, needed);
  give_back(path);
  if (needed <= bytes) return room;
  errno = ERANGE;
  return nullptr;
}
}  // namespace

extern "C" [[noreturn]] void __chk_fail();

SDSM_ENTRY_AS(char*, getcwd, (char* room, std::size_t bytes) noexcept, current_folder(room, bytes, SDSM_CALLER))
SDSM_ENTRY char* __getcwd_chk(char* room, std::size_t bytes, std::size_t room_bytes) noexcept {
  if (bytes > room_bytes) __chk_fail();
  return current_folder(room, bytes, SDSM_CALLER);
}
SDSM_ENTRY char* realpath(const char* path, char* resolved) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<char*(const char*, char*)> real{"realpath"};
  if (resolved != nullptr) return real(path, resolved);
  return moved_text(real(path, nullptr), SDSM_CALLER);
}
