/// The books of the program's heap, in shared memory. A block of a page or more is a region of its own and begins on a
/// multiple of 64 KiB; smaller blocks share the pages of one region. The books lie elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/program/placement.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/thread_safety.hpp"

namespace sdsm::program::heap {

struct Request {
  std::size_t bytes = 0;
  std::size_t alignment = 16;  ///< a power of two
  Placement placement = Placement::round_robin;
  std::uintptr_t caller = 0;  ///< for the block's name
  bool in_own_pages = false;  ///< even if it is small
};

/// The lock that HeapGuard (shared_memory.hpp) holds.
struct CAPABILITY("lock") BooksLock {};
inline constinit BooksLock books_lock;

/// Reserves the address space. To be called before any other function here.
void start() REQUIRES(starting);

/// All of its addresses, used or not.
AddressRange whole();
bool holds(const void* block);
/// Whether the block has pages of its own.
bool is_large(const void* block);

/// Allocates a block. Null if there is no memory left, or the alignment is no power of two.
void* allocate(const Request& request);
/// Zeroes the first `bytes` of a new block, without touching pages that the kernel gives zeroed.
void clear(void* block, std::size_t bytes);
/// The first pages in a row of `part`, of a large block, that another block had before: their end is cut off at that of
/// `part`. Empty, at the end of `part`, if there are none.
AddressRange first_used_pages(const AddressRange& part);
/// Ends the run with a message if `block` is no block of this heap, or was freed before.
void free(void* block);
/// Takes the pages of `part` from the first block that it meets, for good; `part` then begins behind the block. Returns
/// the block, which is to be freed, if none of its pages is left; else null.
void* unmap_first(AddressRange& part);
/// Gives blocks their pages in `part` back. False if some are of no block that has others left.
bool map_again(const AddressRange& part);
/// Room in bytes of a block for `request` if it would share its pages with others; else 0.
std::size_t small_room(const Request& request);
/// Bytes that the block has room for. The run ends with a message if it is no block of this heap, or was freed.
std::size_t room(const void* block);

}  // namespace sdsm::program::heap
