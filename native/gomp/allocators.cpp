/// The OpenMP library's allocators: every one of them gives memory that all threads share.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/gomp/engine.hpp"
#include "native/gomp/entry.hpp"
#include "native/gomp/message.hpp"
#include "native/gomp/thread.hpp"

using namespace sdsm;

namespace {

constexpr std::size_t least_alignment = 16;
constexpr std::uintptr_t default_allocator = 1;  ///< omp_default_mem_alloc

/// Null if the product does not fit.
void* allocate_array(std::size_t alignment, std::size_t count, std::size_t bytes) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total)) return nullptr;
  return engine::allocate_shared(total > 0 ? total : 1, alignment < least_alignment ? least_alignment : alignment);
}

}  // namespace

SDSM_ENTRY_AS(void*, omp_alloc, (std::size_t bytes, std::uintptr_t /*allocator*/),
              allocate_array(least_alignment, 1, bytes))
SDSM_ENTRY_AS(void*, omp_aligned_alloc, (std::size_t alignment, std::size_t bytes, std::uintptr_t /*allocator*/),
              allocate_array(alignment, 1, bytes))
SDSM_ENTRY_AS(void*, omp_calloc, (std::size_t count, std::size_t bytes, std::uintptr_t /*allocator*/),
              allocate_array(least_alignment, count, bytes))
SDSM_ENTRY_AS(void*, omp_aligned_calloc,
              (std::size_t alignment, std::size_t count, std::size_t bytes, std::uintptr_t /*allocator*/),
              allocate_array(alignment, count, bytes))
SDSM_ENTRY void* omp_realloc(void* block, std::size_t bytes, std::uintptr_t /*to*/, std::uintptr_t /*from*/) {
  if (block == nullptr) return allocate_array(least_alignment, 1, bytes);
  if (bytes == 0) {
    engine::free_shared(block);
    return nullptr;
  }
  return engine::reallocate_shared(block, bytes);
}
SDSM_ENTRY_AS(void, omp_free, (void* block, std::uintptr_t /*allocator*/), engine::free_shared(block))

SDSM_ENTRY void* GOMP_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t /*allocator*/) {
  void* block = allocate_array(alignment, 1, bytes);
  if (block == nullptr) engine::refuse("GOMP_alloc (an allocate clause)", "there is no memory left");
  return block;
}
SDSM_ENTRY_AS(void, GOMP_free, (void* block, std::uintptr_t /*allocator*/), engine::free_shared(block))

/// Allocators with traits of their own behave as the default one.
SDSM_ENTRY_AS(std::uintptr_t, omp_init_allocator, (std::uintptr_t /*space*/, int /*count*/, const void* /*traits*/),
              default_allocator)
SDSM_ENTRY_AS(std::uintptr_t, omp_init_allocator_,
              (const std::uintptr_t* /*space*/, const std::int32_t* /*count*/, const void* /*traits*/),
              default_allocator)
SDSM_ENTRY_AS(std::uintptr_t, omp_init_allocator_8_,
              (const std::uintptr_t* /*space*/, const std::int64_t* /*count*/, const void* /*traits*/),
              default_allocator)
SDSM_ENTRY void omp_destroy_allocator(std::uintptr_t /*allocator*/) {}
SDSM_ENTRY void omp_destroy_allocator_(const std::uintptr_t* /*allocator*/) {}
SDSM_ENTRY void omp_set_default_allocator(std::uintptr_t allocator) {
  gomp::this_thread().variables.allocator = static_cast<std::uint32_t>(allocator);
}
SDSM_ENTRY_AS(void, omp_set_default_allocator_, (const std::uintptr_t* allocator),
              omp_set_default_allocator(*allocator))
SDSM_ENTRY std::uintptr_t omp_get_default_allocator() {
  const std::uint32_t chosen = gomp::this_thread().variables.allocator;
  return chosen == 0 ? default_allocator : chosen;
}
SDSM_ENTRY_AS(std::uintptr_t, omp_get_default_allocator_, (), omp_get_default_allocator())

// The `error` directive.
namespace {
/// The text is not terminated, unless `length` says so: then it is.
void show(const char* kind, const char* text, std::size_t length) {
  char line[512];
  const std::size_t room = sizeof line - 1;
  const std::size_t wanted = text == nullptr ? 0 : (length == SIZE_MAX ? std::strlen(text) : length);
  const std::size_t copied = wanted < room ? wanted : room;
  if (copied > 0) std::memcpy(line, text, copied);
  line[copied] = '\0';
  gomp::message({kind, line});
}
}  // namespace

SDSM_ENTRY_AS(void, GOMP_warning, (const char* text, std::size_t length), show("the program warns: ", text, length))
SDSM_ENTRY void GOMP_error(const char* text, std::size_t length) {
  show("the program ends itself: ", text, length);
  engine::refuse("the directive 'error'", "its severity is fatal");
}
