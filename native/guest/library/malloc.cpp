/// The C library's allocation functions: the program's own allocations go to the traced heap, those of the libraries
/// under it to the C library. The caller's address decides.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/guest/kernel/open_files.hpp"
#include "native/guest/library/library_memory.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/callers.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/guest/runtime/signals.hpp"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

using namespace sdsm::program;
using sdsm::page_bytes;

namespace {

/// The C library's heap has a lock, which the run-time's other thread wants, too: a handler might wait for that one.
template <typename Function, typename... Arguments>
auto in_library(Function function, Arguments... arguments) {
  const HeldSignals held;
  return function(arguments...);
}

/// Null and errno, as C11 and POSIX want it.
void* or_no_memory(void* block) {
  if (block == nullptr) errno = ENOMEM;
  return block;
}

void* allocate(std::size_t bytes, std::size_t alignment, std::uintptr_t code) {
  std::uintptr_t caller = allocates_for(code);
  if (!program_image.is_program(caller)) {
    if (void* const room = open_files::take_room(bytes)) return room;
    return alignment <= 16 ? in_library(__libc_malloc, bytes) : in_library(__libc_memalign, alignment, bytes);
  }
  if (bytes >= page_bytes) caller = caller_in_program(caller);
  return or_no_memory(
      shared_heap::allocate({.bytes = bytes, .alignment = alignment < 16 ? 16 : alignment, .caller = caller}));
}

/// realloc().
void* resize(void* block, std::size_t bytes, std::uintptr_t caller) {
  if (block == nullptr) return allocate(bytes, 16, caller);
  if (!shared_heap::holds(block)) return in_library(__libc_realloc, block, bytes);
  if (bytes > 0) return or_no_memory(shared_heap::reallocate(block, bytes, caller));
  shared_heap::free(block);
  return nullptr;
}

}  // namespace

namespace sdsm::program::shared_heap {

void* reallocate(void* block, std::size_t bytes, std::uintptr_t caller) {
  const std::size_t old_room = room(block);
  // A block that would be half empty is moved, so that shrinking gives memory back.
  if (bytes <= old_room && bytes >= old_room / 2) return block;
  // What grows in small steps is moved a few times only.
  const std::size_t ample = old_room + old_room / 2;
  void* moved = nullptr;
  if (old_room >= page_bytes && bytes > old_room && bytes < ample) moved = allocate({.bytes = ample, .caller = caller});
  if (moved == nullptr) moved = allocate({.bytes = bytes, .caller = caller});
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, bytes < old_room ? bytes : old_room);
  free(block);
  return moved;
}

}  // namespace sdsm::program::shared_heap

SDSM_ENTRY_AS(void*, malloc, (std::size_t bytes) noexcept, allocate(bytes, 16, SDSM_CALLER))

SDSM_ENTRY void* calloc(std::size_t count, std::size_t bytes) noexcept {
  const std::uintptr_t caller = allocates_for(SDSM_CALLER);
  if (!program_image.is_program(caller)) return in_library(__libc_calloc, count, bytes);
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) return or_no_memory(nullptr);
  void* block = allocate(total, 16, caller);
  if (block != nullptr) shared_heap::clear(block, total);
  return block;
}

SDSM_ENTRY void free(void* block) noexcept {
  if (block == nullptr) return;
  if (shared_heap::holds(block)) {
    shared_heap::free(block);
  } else if (!open_files::is_room(block)) {
    in_library(__libc_free, block);
  }
}

SDSM_ENTRY_AS(void*, realloc, (void* block, std::size_t bytes) noexcept, resize(block, bytes, SDSM_CALLER))

SDSM_ENTRY void* reallocarray(void* block, std::size_t count, std::size_t bytes) noexcept {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) return or_no_memory(nullptr);
  return resize(block, total, SDSM_CALLER);
}

SDSM_ENTRY int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept {
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  const int saved_errno = errno;
  void* block = allocate(bytes, alignment, SDSM_CALLER);
  errno = saved_errno;
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}

SDSM_ENTRY_AS(void*, aligned_alloc, (std::size_t alignment, std::size_t bytes) noexcept,
              allocate(bytes, alignment, SDSM_CALLER))

SDSM_ENTRY_AS(void*, memalign, (std::size_t alignment, std::size_t bytes) noexcept,
              allocate(bytes, alignment, SDSM_CALLER))

SDSM_ENTRY_AS(void*, valloc, (std::size_t bytes) noexcept, allocate(bytes, 4096, SDSM_CALLER))

SDSM_ENTRY std::size_t malloc_usable_size(void* block) noexcept {
  if (block == nullptr) return 0;
  if (shared_heap::holds(block)) return shared_heap::room(block);
  // The C library's own layout: the word before a block holds its size, and flags in the lowest three bits.
  const std::size_t size = static_cast<const std::size_t*>(block)[-1];
  constexpr std::size_t is_mapped = 2;
  return (size & ~std::size_t{7}) - ((size & is_mapped) != 0 ? 2 : 1) * sizeof(std::size_t);
}
