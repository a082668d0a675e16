/// The interface between native/guest/ and the engine beneath it for the memory that the program's threads share. Each
/// engine (the tracer, the native DSM) defines these functions, as those of native/guest/openmp/engine.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/program/regions.hpp"
#include "native/guest/memory/heap.hpp"
#include "native/guest/runtime/signals.hpp"

namespace sdsm::program {

/// A region of shared memory; its first page is at `begin`.
struct RegionInfo : MemoryRegion {
  std::uintptr_t begin = 0;
  bool is_retired = false;  ///< a block that is gone, at least in part; known where the books are
};

inline constexpr std::uint32_t no_region = 0;  ///< region numbers inside the run-time start at 1

/// Reserves the heap: `bytes` of readable and writable memory, if possible at `begin`, with an unused page on either
/// side. Returns its address, or 0 if there is not so much.
std::uintptr_t reserve_heap(std::uintptr_t begin, std::size_t bytes) REQUIRES(starting);

/// Makes the pages of `region` a region, and returns its number. For heap blocks: code at `caller` asked for `bytes`;
/// `number` is the block's.
std::uint32_t add_region(const RegionInfo& region, std::uint64_t bytes = 0, std::uintptr_t caller = 0,
                         std::uint32_t number = 0);
/// Notes that a region has grown at its end.
void set_region_pages(std::uint32_t region, std::uint64_t pages) REQUIRES(heap::books_lock);
/// Takes the pages from their region: a block is freed, or an array is placed anew.
void retire_pages(std::uintptr_t begin, std::uint64_t pages);

/// The program's heap as its threads use it. Where one process keeps the books (heap.hpp), the others ask that one.
namespace shared_heap {
bool holds(const void* block);
void* allocate(const heap::Request& request);
void clear(void* block, std::size_t bytes);
void free(void* block);
/// Takes pages from large blocks, which nobody may touch then. A block with none left is freed. Pages of no block stay
/// as they are.
void unmap(AddressRange part);
/// Gives blocks pages back that they lost, with any contents. False if a page is of no block.
bool map_again(const AddressRange& part);
std::size_t room(const void* block);
/// Resizes a block, and keeps the first min(old, new) bytes. Null if there is no memory left; the block stays then.
void* reallocate(void* block, std::size_t bytes, std::uintptr_t caller);
}  // namespace shared_heap

/// The process that is the home of the page at `address`; -1 if the address is not in shared memory.
int home_of_address(std::uintptr_t address);

/// Places the pages of an array as the program asks (sdsm_rt_map). False if they are no globals.
bool place_globals(std::uintptr_t begin, std::size_t bytes, Placement placement);

/// Touches the pages of a buffer as the program would, before a system call uses it: on a protected page the call would
/// fail instead of trapping.
enum class KernelUse : bool { reads, writes };
void touch_for_kernel(const void* buffer, std::uint64_t bytes, KernelUse use);
/// To be called after a system call, and after the work of an atomic operation's trap.
void shut_after_use();
/// How often a touch has shut other pages, so far: a buffer touched before may need to be touched again.
std::uint64_t times_shut_by_touches();

/// While it lives, no other thread sees the heap's books, which may be half changed. One may be made within another.
class SCOPED_CAPABILITY HeapGuard {
 public:
  HeapGuard() ACQUIRE(heap::books_lock);
  ~HeapGuard() RELEASE();

 private:
  HeldSignals held_;
  [[maybe_unused]] bool was_inside_;  // by the tracer
};

/// Ends the run if a child of fork() would get no copy of the memory.
void allow_fork();
/// To be called in the child after fork(), which runs on alone.
void become_lone_child();

}  // namespace sdsm::program
