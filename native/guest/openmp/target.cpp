/// `target` regions, on the only device that there is: the host, where data need not be mapped, and `teams` in them.
/// (libgomp/target.c says what the compiler passes.)
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <strings.h>

#include "native/guest/openmp/thread.hpp"
#include "native/guest/openmp/unfinished.hpp"
#include "native/guest/runtime/entry.hpp"

using namespace sdsm;
using gomp::this_thread;
using gomp::ThreadState;

namespace {

// Kinds of maps, and arguments of regions, by gcc's include/gomp-constants.h.
constexpr unsigned map_firstprivate = 12;
constexpr unsigned map_kind_mask = 0xff;
constexpr unsigned map_alignment_shift = 8;
constexpr std::uintptr_t argument_device_mask = 0x7f;
constexpr std::uintptr_t argument_value_follows = 0x80;
constexpr std::uintptr_t argument_id_mask = 0xff00;
constexpr std::uintptr_t argument_thread_limit = 0x200;
constexpr unsigned argument_value_shift = 16;

constexpr int host = 0;

void limit_threads(ThreadState& thread, std::uintptr_t limit) {
  if (limit > 0 && limit < thread.variables.thread_limit) {
    thread.variables.thread_limit = static_cast<std::uint32_t>(limit);
  }
}

void apply_arguments(ThreadState& thread, void** arguments) {
  while (arguments != nullptr && *arguments != nullptr) {
    const auto argument = reinterpret_cast<std::uintptr_t>(*arguments++);
    const std::uintptr_t value = (argument & argument_value_follows) != 0
                                     ? reinterpret_cast<std::uintptr_t>(*arguments++)
                                     : argument >> argument_value_shift;
    const bool is_of_all_devices = (argument & argument_device_mask) == 0;
    if (is_of_all_devices && (argument & argument_id_mask) == argument_thread_limit) limit_threads(thread, value);
  }
}

/// The values of firstprivate variables, one after another, each at its alignment.
struct OwnCopies {
  std::size_t alignment = 1;
  std::size_t bytes = 0;
};

template <typename Take>
OwnCopies walk_private(std::size_t maps, const std::size_t* sizes, const unsigned short* kinds, Take take) {
  OwnCopies copies;
  for (std::size_t i = 0; i < maps; ++i) {
    if ((kinds[i] & map_kind_mask) != map_firstprivate) continue;
    const std::size_t alignment = std::size_t{1} << (kinds[i] >> map_alignment_shift);
    if (alignment > copies.alignment) copies.alignment = alignment;
    copies.bytes = (copies.bytes + alignment - 1) / alignment * alignment;
    take(i, copies.bytes);
    copies.bytes += sizes[i];
  }
  return copies;
}

/// A region is an initial task of its own: outside of any parallel region.
void run_on_host(void (*body)(void*), void** variables, void** arguments) {
  const char* wanted = std::getenv("OMP_TARGET_OFFLOAD");
  if (wanted != nullptr && strcasecmp(wanted, "mandatory") == 0) {
    engine::refuse("a target region", "OMP_TARGET_OFFLOAD is 'mandatory', and there is no device but the host");
  }
  ThreadState& thread = this_thread();
  ThreadState outer = thread;
  thread.number = 0;
  thread.team_size = 1;
  thread.serialised = true;
  thread.level = 0;
  thread.active_level = 0;
  thread.shared_level = ~0U;  // no team around it is seen
  thread.in_task = false;
  thread.in_final_task = false;
  thread.teams = 1;
  thread.team = 0;
  apply_arguments(thread, arguments);
  thread.tasks_before = gomp::tasks_so_far();
  body(variables);
  gomp::finish_tasks(thread.tasks_before);
  outer.next_construct = thread.next_construct;
  outer.next_region = thread.next_region;
  thread = outer;
}

/// What one copy of a block of `dimensions` dimensions is: volume and the two arrays' sizes and offsets, in elements.
struct Block {
  const std::size_t* volume;
  const std::size_t* to_offsets;
  const std::size_t* from_offsets;
  const std::size_t* to_sizes;
  const std::size_t* from_sizes;
};

/// False if a size overflows.
bool copy_block(char* to, const char* from, std::size_t element, int dimensions, Block block) {
  std::size_t to_step = element, from_step = element, bytes = 0, to_offset = 0, from_offset = 0;
  for (int i = 1; i < dimensions; ++i) {
    if (__builtin_mul_overflow(to_step, block.to_sizes[i], &to_step) ||
        __builtin_mul_overflow(from_step, block.from_sizes[i], &from_step)) {
      return false;
    }
  }
  if (__builtin_mul_overflow(to_step, block.to_offsets[0], &to_offset) ||
      __builtin_mul_overflow(from_step, block.from_offsets[0], &from_offset)) {
    return false;
  }
  to += to_offset;
  from += from_offset;
  if (dimensions == 1) {
    if (__builtin_mul_overflow(element, block.volume[0], &bytes)) return false;
    std::memmove(to, from, bytes);
    return true;
  }
  const Block inner{block.volume + 1, block.to_offsets + 1, block.from_offsets + 1, block.to_sizes + 1,
                    block.from_sizes + 1};
  for (std::size_t i = 0; i < block.volume[0]; ++i, to += to_step, from += from_step) {
    if (!copy_block(to, from, element, dimensions - 1, inner)) return false;
  }
  return true;
}

}  // namespace

SDSM_ENTRY void GOMP_target_ext(int /*device*/, void (*body)(void*), std::size_t maps, void** variables,
                                std::size_t* sizes, unsigned short* kinds, unsigned /*flags*/, void** depend,
                                void** arguments) {
  gomp::await_dependences(depend);
  const OwnCopies copies = walk_private(maps, sizes, kinds, [](std::size_t, std::size_t) {});
  if (copies.bytes > 0) {
    const auto room = reinterpret_cast<std::uintptr_t>(__builtin_alloca(copies.bytes + copies.alignment));
    const std::uintptr_t begin = (room + copies.alignment - 1) / copies.alignment * copies.alignment;
    walk_private(maps, sizes, kinds, [&](std::size_t i, std::size_t offset) {
      variables[i] = std::memcpy(reinterpret_cast<void*>(begin + offset), variables[i], sizes[i]);
    });
  }
  run_on_host(body, variables, arguments);
}

SDSM_ENTRY void GOMP_target_data_ext(int /*device*/, std::size_t /*maps*/, void** /*variables*/, std::size_t* /*sizes*/,
                                     unsigned short* /*kinds*/) {}
SDSM_ENTRY void GOMP_target_end_data() {}
SDSM_ENTRY void GOMP_target_update_ext(int /*device*/, std::size_t /*maps*/, void** /*variables*/,
                                       std::size_t* /*sizes*/, unsigned short* /*kinds*/, unsigned /*flags*/,
                                       void** depend) {
  gomp::await_dependences(depend);
}
SDSM_ENTRY void GOMP_target_enter_exit_data(int /*device*/, std::size_t /*maps*/, void** /*variables*/,
                                            std::size_t* /*sizes*/, unsigned short* /*kinds*/, unsigned /*flags*/,
                                            void** depend) {
  gomp::await_dependences(depend);
}

/// `teams` in a target region: the region's code runs its teams one after another. Until gcc 11, one.
SDSM_ENTRY_AS(void, GOMP_teams, (unsigned /*teams*/, unsigned thread_limit), limit_threads(this_thread(), thread_limit))
SDSM_ENTRY bool GOMP_teams4(unsigned /*least*/, unsigned most, unsigned thread_limit, bool is_first) {
  ThreadState& thread = this_thread();
  if (is_first) {
    limit_threads(thread, thread_limit);
    thread.teams = most > 0 ? most : 1;
    thread.team = 0;
    return true;
  }
  return ++thread.team < thread.teams;
}

SDSM_ENTRY_AS(void*, omp_target_alloc, (std::size_t bytes, int device),
              device == host ? engine::allocate_shared(bytes > 0 ? bytes : 1, 16) : nullptr)
SDSM_ENTRY void omp_target_free(void* block, int device) {
  if (device == host) engine::free_shared(block);
}
SDSM_ENTRY_AS(int, omp_target_is_present, (const void* /*address*/, int device), device == host ? 1 : 0)
SDSM_ENTRY_AS(int, omp_target_is_accessible, (const void* /*address*/, std::size_t /*bytes*/, int device),
              device == host ? 1 : 0)
SDSM_ENTRY_AS(void*, omp_get_mapped_ptr, (const void* address, int device),
              device == host ? const_cast<void*>(address) : nullptr)
SDSM_ENTRY int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                                 std::size_t from_offset, int to_device, int from_device) {
  if (to_device != host || from_device != host) return EINVAL;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, bytes);
  return 0;
}
SDSM_ENTRY int omp_target_memcpy_rect(void* to, const void* from, std::size_t element, int dimensions,
                                      const std::size_t* volume, const std::size_t* to_offsets,
                                      const std::size_t* from_offsets, const std::size_t* to_sizes,
                                      const std::size_t* from_sizes, int to_device, int from_device) {
  if (to == nullptr && from == nullptr) return INT_MAX;  // dimensions that are supported
  if (to_device != host || from_device != host || dimensions < 1) return EINVAL;
  const Block block{volume, to_offsets, from_offsets, to_sizes, from_sizes};
  return copy_block(static_cast<char*>(to), static_cast<const char*>(from), element, dimensions, block) ? 0 : EINVAL;
}
/// The host's memory cannot be another address of itself.
SDSM_ENTRY_AS(int, omp_target_associate_ptr,
              (const void* /*host*/, const void* /*other*/, std::size_t /*bytes*/, std::size_t /*offset*/,
               int /*device*/),
              EINVAL)
SDSM_ENTRY_AS(int, omp_target_disassociate_ptr, (const void* /*host*/, int /*device*/), EINVAL)
