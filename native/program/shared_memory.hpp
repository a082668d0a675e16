/// What this folder's code asks of the engine beneath it about the memory that the program's threads share. Each engine
/// (the tracer, the native DSM) defines these functions; the seam is the linker, as in native/gomp/engine.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/placement.hpp"
#include "native/program/heap.hpp"
#include "native/program/signals.hpp"
#include "workloads/trace/trace.hpp"

namespace sdsm::program {

/// A piece of shared memory that the program knows as one thing; its first page is at `begin`.
struct RegionInfo {
  std::uintptr_t begin = 0;
  std::uint64_t pages = 0;
  trace::RegionKind kind{};
  Placement placement{};
  std::uint32_t owner = 0;
};

inline constexpr std::uint32_t no_region = 0;  ///< region numbers inside the run-time start at 1

/// Where the heap may lie. `begin` is a wish; returns the address of `bytes` of readable and writable memory with a
/// page on either side that nobody uses, or 0 if there is not as much.
std::uintptr_t reserve_heap(std::uintptr_t begin, std::size_t bytes) REQUIRES(starting);

/// Names [begin, begin + pages) as a region, and returns its number. `bytes` were asked for, from `caller`; `number`
/// counts the blocks of the heap.
std::uint32_t add_region(const RegionInfo& region, std::uint64_t bytes = 0, std::uintptr_t caller = 0,
                         std::uint32_t number = 0);
/// A region has grown at its end.
void set_region_pages(std::uint32_t region, std::uint64_t pages) REQUIRES(heap::books_lock);
/// The pages stop being what they were (a block is freed, an array is placed anew).
void retire_pages(std::uintptr_t begin, std::uint64_t pages);

/// Pages of a large block that was freed may go back to the system. True if they are zeros from now on.
bool give_pages_back(std::uintptr_t begin, std::uint64_t pages);

/// The program's heap as its threads use it. Where one process keeps the books (heap.hpp), the others ask that one.
namespace shared_heap {
bool holds(const void* block);
void* allocate(const heap::Request& request);
void clear(void* block, std::size_t bytes);
void free(void* block);
std::size_t room(const void* block);
/// Keeps the first min(old, new) bytes. Null if there is no memory left; the block stays then.
void* reallocate(void* block, std::size_t bytes, std::uintptr_t caller);
}  // namespace shared_heap

/// The process that is the home of the page at `address`; -1 if the address is not in shared memory.
int home_of_address(std::uintptr_t address);

/// Makes the pages of `address` what the program asked for (sdsm_rt_map). False if they are no globals.
bool place_globals(std::uintptr_t begin, std::size_t bytes, Placement placement);

/// Touches the pages of a buffer as the program would, before the kernel uses it: a system call on a protected page
/// fails instead of trapping.
enum class KernelUse : bool { reads, writes };
void touch_for_kernel(const void* buffer, std::uint64_t bytes, KernelUse use);

/// For the time of a change to the heap's books: no other thread of the program sees it half done. One call of a
/// guarded function may make another.
class SCOPED_CAPABILITY HeapGuard {
 public:
  HeapGuard() ACQUIRE(heap::books_lock);
  ~HeapGuard() RELEASE();
  HeapGuard(const HeapGuard&) = delete;
  HeapGuard& operator=(const HeapGuard&) = delete;

 private:
  HeldSignals held_;
  bool was_inside_;
};

/// Whether a child gets a copy of the memory by fork(). Ends the run if it does not.
void allow_fork();
/// After fork(), in the child: it runs on alone.
void become_lone_child();

}  // namespace sdsm::program
