/// The OpenMP library's allocators: every one of them gives memory that all threads share, as aligned as it says.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/guest/openmp/engine.hpp"
#include "native/guest/openmp/thread.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/message.hpp"

using namespace sdsm;

extern "C" std::uintptr_t omp_get_default_allocator();

namespace {

constexpr std::size_t least_alignment = 16;
constexpr std::uintptr_t default_allocator = 1;  ///< omp_default_mem_alloc
constexpr std::uintptr_t no_allocator = 0;       ///< omp_null_allocator

/// An allocator with traits of its own is a number that says which, so that all processes know it: the logarithm of the
/// alignment, and these. The predefined ones are below 9.
constexpr std::uintptr_t has_traits = 0x100, ends_without_memory = 0x80, logarithm = 0x3f;

/// Keys and values of omp.h.
enum : int { key_alignment = 2, key_pool_size = 4, key_fallback = 5, key_pinned = 7 };
constexpr std::uintptr_t as_default = ~std::uintptr_t{0}, value_true = 1, value_abort = 13;
struct Trait {
  int key = 0;
  std::uintptr_t value = 0;
};

/// As OpenMP has it, no allocator if it cannot have the traits: nobody counts what a pool has given, or pins memory.
std::uintptr_t allocator_with(std::int64_t count, const Trait* traits) {
  std::uintptr_t made = has_traits | static_cast<std::uintptr_t>(std::countr_zero(least_alignment));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [key, value] = traits[i];
    if (value == as_default) continue;
    if (key == key_alignment) {
      if (!std::has_single_bit(value)) return no_allocator;
      made = (made & ~logarithm) | static_cast<std::uintptr_t>(std::countr_zero(std::max(value, least_alignment)));
    } else if (key == key_fallback && value == value_abort) {
      made |= ends_without_memory;
    } else if (key == key_pool_size || (key == key_pinned && value == value_true)) {
      gomp::message({"note: omp_init_allocator gives omp_null_allocator: the trait ",
                     key == key_pool_size ? "pool_size" : "pinned", " is not supported"});
      return no_allocator;
    }
  }
  return made;
}

std::uintptr_t chosen(std::uintptr_t allocator) {
  return allocator == no_allocator ? omp_get_default_allocator() : allocator;
}
std::size_t alignment_by(std::uintptr_t allocator) {
  return (allocator & has_traits) != 0 ? std::size_t{1} << (allocator & logarithm) : least_alignment;
}

/// Null if the product does not fit or there is no memory.
void* allocate_array(std::size_t alignment, std::size_t count, std::size_t bytes, std::uintptr_t allocator) {
  allocator = chosen(allocator);
  std::size_t total = 0;
  void* block = nullptr;
  if (!__builtin_mul_overflow(count, bytes, &total))
    block = engine::allocate_shared(total > 0 ? total : 1, std::max(alignment, alignment_by(allocator)));
  if (block == nullptr && (allocator & has_traits) != 0 && (allocator & ends_without_memory) != 0)
    engine::refuse("an allocator with the fallback abort_fb", "there is no memory left");
  return block;
}

/// Reallocates for an allocator that aligns more than blocks are anyway. The old block stays if there is no memory.
void* reallocate_aligned(void* block, std::size_t bytes, std::uintptr_t allocator) {
  void* const aligned = allocate_array(least_alignment, 1, bytes, allocator);
  if (aligned == nullptr) return nullptr;
  void* const resized = engine::reallocate_shared(block, bytes);
  if (resized != nullptr) {
    std::memcpy(aligned, resized, bytes);
    engine::free_shared(resized);
    return aligned;
  }
  engine::free_shared(aligned);
  return nullptr;
}

}  // namespace

SDSM_ENTRY_AS(void*, omp_alloc, (std::size_t bytes, std::uintptr_t allocator),
              allocate_array(least_alignment, 1, bytes, allocator))
SDSM_ENTRY_AS(void*, omp_aligned_alloc, (std::size_t alignment, std::size_t bytes, std::uintptr_t allocator),
              allocate_array(alignment, 1, bytes, allocator))
SDSM_ENTRY_AS(void*, omp_calloc, (std::size_t count, std::size_t bytes, std::uintptr_t allocator),
              allocate_array(least_alignment, count, bytes, allocator))
SDSM_ENTRY_AS(void*, omp_aligned_calloc,
              (std::size_t alignment, std::size_t count, std::size_t bytes, std::uintptr_t allocator),
              allocate_array(alignment, count, bytes, allocator))
SDSM_ENTRY void* omp_realloc(void* block, std::size_t bytes, std::uintptr_t to, std::uintptr_t from) {
  if (to == no_allocator) to = from;
  if (block == nullptr) return allocate_array(least_alignment, 1, bytes, to);
  if (bytes == 0) {
    engine::free_shared(block);
    return nullptr;
  }
  if (alignment_by(chosen(to)) > least_alignment) return reallocate_aligned(block, bytes, to);
  return engine::reallocate_shared(block, bytes);
}
SDSM_ENTRY_AS(void, omp_free, (void* block, std::uintptr_t /*allocator*/), engine::free_shared(block))

SDSM_ENTRY void* GOMP_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t allocator) {
  void* block = allocate_array(alignment, 1, bytes, allocator);
  if (block == nullptr) engine::refuse("GOMP_alloc (an allocate clause)", "there is no memory left");
  return block;
}
SDSM_ENTRY_AS(void, GOMP_free, (void* block, std::uintptr_t /*allocator*/), engine::free_shared(block))

SDSM_ENTRY_AS(std::uintptr_t, omp_init_allocator, (std::uintptr_t /*space*/, int count, const Trait* traits),
              allocator_with(count, traits))
SDSM_ENTRY_AS(std::uintptr_t, omp_init_allocator_,
              (const std::uintptr_t* /*space*/, const std::int32_t* count, const Trait* traits),
              allocator_with(*count, traits))
SDSM_ENTRY_AS(std::uintptr_t, omp_init_allocator_8_,
              (const std::uintptr_t* /*space*/, const std::int64_t* count, const Trait* traits),
              allocator_with(*count, traits))
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
