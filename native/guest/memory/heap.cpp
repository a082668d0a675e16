#include "native/guest/memory/heap.hpp"

#include <algorithm>
#include <cstring>

#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/raw_memory.hpp"

namespace sdsm::program::heap {
namespace {

constexpr std::size_t gib = std::size_t{1} << 30;
constexpr std::size_t wanted_bytes = 256 * gib;
constexpr std::size_t least_bytes = gib / 4;
constexpr std::size_t quantum = 16;
constexpr unsigned most_blocks_per_page = page_bytes / quantum;
/// At this address in each run, so that pointers stored in traced memory are the same in each pass.
constexpr std::uintptr_t preferred_address = 0x200000000000;

/// Sizes of small blocks. Each divides a page into equal parts and is a multiple of 16; powers of two serve alignment.
constexpr std::uint16_t class_bytes[] = {16,  32,  48,  64,  80,  96,  112, 128,  160,  192,  224,
                                         256, 320, 384, 448, 512, 672, 816, 1024, 1360, 2048, 4096};
constexpr unsigned class_count = sizeof class_bytes / sizeof class_bytes[0];
static_assert(class_count < 255);

/// A page of small blocks.
struct SmallPage {
  std::uint64_t is_free[most_blocks_per_page / 64];  ///< bit b: block b is free
  std::uint32_t next;                                ///< next page of the class with free blocks; 0: none
  std::uint16_t free_blocks;
  std::uint8_t class_number;
  bool is_listed;
};

/// What is known about the block that begins at a page of the large part.
struct LargeBlock {
  std::size_t bytes;    ///< asked for
  std::uint64_t pages;  ///< 0: no block begins here
  std::uint64_t unmapped_pages;
};

/// Address space for small blocks, and for blocks of pages: as much as the system gives, which may be little where it
/// does not overcommit. And room for what is known about its pages.
struct Space {
  std::uintptr_t small_begin = 0;
  std::size_t small_bytes = 0;
  std::uintptr_t large_begin = 0;
  std::size_t large_bytes = 0;
  SmallPage* small_pages PT_GUARDED_BY(books_lock) = nullptr;    ///< by page number, from 1
  LargeBlock* large_blocks PT_GUARDED_BY(books_lock) = nullptr;  ///< by page of the large part
  bool* is_unmapped PT_GUARDED_BY(books_lock) = nullptr;  ///< by page of the large part: of a block that has others
  bool* was_used = nullptr;  ///< by page of the large part: not known to be zero. That of a block is its user's
};
constinit Space reserved GUARDED_BY(starting);
constinit const Space& space = reserved;

struct FreePages {
  std::uint64_t first;
  std::uint64_t pages;
};

struct Books {
  std::uint32_t small_pages_used = 0;
  std::uint32_t first_with_room[class_count] = {};
  std::uint32_t small_region = no_region;

  std::uint64_t large_pages_used = 0;  ///< the part beyond has never been used
  std::uint32_t blocks_named = 0;
  GrowingArray<FreePages> free_pages;  ///< by ascending address, no two adjacent
};
constinit Books books GUARDED_BY(books_lock);

std::uintptr_t address_of_small(std::uint32_t number) {
  return space.small_begin + (number - 1) * page_bytes;
}
std::uintptr_t address_of_large(std::uint64_t page) {
  return space.large_begin + page * page_bytes;
}
bool is_small(std::uintptr_t address) {
  return address < space.large_begin;
}
std::uint32_t small_number(std::uintptr_t address) {
  return static_cast<std::uint32_t>((address - space.small_begin) / page_bytes + 1);
}

unsigned class_for(std::size_t bytes, std::size_t alignment) {
  for (unsigned i = 0; i < class_count; ++i) {
    // A block's offset in its page is a multiple of its size.
    if (class_bytes[i] >= bytes && class_bytes[i] % alignment == 0) return i;
  }
  return class_count;
}

void name_small_region() REQUIRES(books_lock) {
  RegionInfo region;
  region.begin = space.small_begin;
  region.kind = RegionKind::small_heap;
  region.placement = Placement::round_robin;
  books.small_region = add_region(region);
}

/// 0 if the address space is used up.
std::uint32_t add_small_page(unsigned class_number) REQUIRES(books_lock) {
  if (books.small_pages_used == space.small_bytes / page_bytes) return 0;
  if (books.small_region == no_region) name_small_region();
  const std::uint32_t number = ++books.small_pages_used;
  set_region_pages(books.small_region, books.small_pages_used);
  SmallPage& page = space.small_pages[number];
  const unsigned blocks = page_bytes / class_bytes[class_number];
  for (unsigned b = 0; b < blocks; ++b) page.is_free[b / 64] |= std::uint64_t{1} << (b % 64);
  page.free_blocks = static_cast<std::uint16_t>(blocks);
  page.class_number = static_cast<std::uint8_t>(class_number);
  return number;
}

void list(std::uint32_t number) REQUIRES(books_lock) {
  SmallPage& page = space.small_pages[number];
  if (page.is_listed) return;
  page.is_listed = true;
  page.next = books.first_with_room[page.class_number];
  books.first_with_room[page.class_number] = number;
}

void* allocate_small(unsigned class_number) REQUIRES(books_lock) {
  std::uint32_t number = books.first_with_room[class_number];
  if (number == 0) {
    number = add_small_page(class_number);
    if (number == 0) return nullptr;
    list(number);
  }
  SmallPage& page = space.small_pages[number];
  unsigned word = 0;
  while (page.is_free[word] == 0) ++word;
  const auto bit = static_cast<unsigned>(__builtin_ctzll(page.is_free[word]));
  page.is_free[word] &= page.is_free[word] - 1;
  if (--page.free_blocks == 0) {
    books.first_with_room[class_number] = page.next;
    page.is_listed = false;
  }
  return reinterpret_cast<void*>(address_of_small(number) + (word * 64 + bit) * class_bytes[class_number]);
}

/// A block of a page of small ones, by its bit.
struct SmallBlock {
  SmallPage& page;
  std::uint64_t& word;
  std::uint64_t bit;
};

constexpr const char* unknown_block = "the program frees or resizes an address that no allocation returned";
constexpr const char* freed_block = "the program frees or resizes a block that it has freed";

/// The small block at an address, which is in use; else the run ends.
SmallBlock small_block(std::uintptr_t address) REQUIRES(books_lock) {
  const std::uint32_t number = small_number(address);
  if (number > books.small_pages_used) end_run({unknown_block});
  SmallPage& page = space.small_pages[number];
  const std::uintptr_t offset = address % page_bytes;
  const unsigned block = static_cast<unsigned>(offset / class_bytes[page.class_number]);
  if (offset % class_bytes[page.class_number] != 0) end_run({unknown_block});
  SmallBlock found{page, page.is_free[block / 64], std::uint64_t{1} << (block % 64)};
  if ((found.word & found.bit) != 0) end_run({freed_block});
  return found;
}

/// The number of the first page of a block in use; else the run ends.
std::uint64_t large_block(std::uintptr_t address) REQUIRES(books_lock) {
  const std::uint64_t first = (address - space.large_begin) / page_bytes;
  if (address % page_bytes != 0 || space.large_blocks[first].pages == 0) {
    end_run({"the program frees or resizes an address that no allocation returned, or a block that it has freed"});
  }
  return first;
}

void free_small(std::uintptr_t address) REQUIRES(books_lock) {
  const SmallBlock block = small_block(address);
  block.word |= block.bit;
  ++block.page.free_blocks;
  list(small_number(address));
}

/// Pages of the address space that a block of `pages` takes: no other block begins before the next multiple.
constexpr std::uint64_t taken_by(std::uint64_t pages) {
  return region_up(pages * page_bytes) / page_bytes;
}

/// First fit; the number of the first page. `alignment` is in pages. ~0 if there is no room.
std::uint64_t take_pages(std::uint64_t pages, std::uint64_t alignment) REQUIRES(books_lock) {
  GrowingArray<FreePages>& free_pages = books.free_pages;
  const auto aligned = [alignment](std::uint64_t first) { return (first + alignment - 1) / alignment * alignment; };
  for (std::size_t i = 0; i < free_pages.size(); ++i) {
    FreePages& hole = free_pages[i];
    const std::uint64_t first = aligned(hole.first);
    const std::uint64_t end = hole.first + hole.pages;
    if (first + pages > end) continue;
    const FreePages before{hole.first, first - hole.first};
    const FreePages after{first + pages, end - first - pages};
    if (before.pages == 0 && after.pages == 0) {
      free_pages.erase(i);
    } else if (before.pages == 0) {
      hole = after;
    } else {
      hole = before;
      if (after.pages > 0) free_pages.insert(i + 1, after);
    }
    return first;
  }
  const std::uint64_t first = aligned(books.large_pages_used);
  if (first + pages > space.large_bytes / page_bytes) return ~std::uint64_t{0};
  if (first > books.large_pages_used) free_pages.push_back({books.large_pages_used, first - books.large_pages_used});
  books.large_pages_used = first + pages;
  return first;
}

void give_pages_back(std::uint64_t first, std::uint64_t pages) REQUIRES(books_lock) {
  GrowingArray<FreePages>& free_pages = books.free_pages;
  const FreePages* const next =
      std::lower_bound(free_pages.begin(), free_pages.end(), first,
                       [](const FreePages& hole, std::uint64_t wanted) { return hole.first < wanted; });
  const auto i = static_cast<std::size_t>(next - free_pages.begin());
  const bool joins_before = i > 0 && free_pages[i - 1].first + free_pages[i - 1].pages == first;
  const bool joins_after = i < free_pages.size() && first + pages == free_pages[i].first;
  if (joins_before && joins_after) {
    free_pages[i - 1].pages += pages + free_pages[i].pages;
    free_pages.erase(i);
  } else if (joins_before) {
    free_pages[i - 1].pages += pages;
  } else if (joins_after) {
    free_pages[i] = {first, pages + free_pages[i].pages};
  } else {
    free_pages.insert(i, {first, pages});
  }
}

void* allocate_large(const Request& request) REQUIRES(books_lock) {
  if (request.bytes > space.large_bytes) return nullptr;
  const std::uint64_t pages = request.bytes == 0 ? 1 : (request.bytes + page_bytes - 1) / page_bytes;
  const std::size_t alignment = request.alignment > region_alignment ? request.alignment : region_alignment;
  const std::uint64_t first = take_pages(taken_by(pages), alignment / page_bytes);
  if (first == ~std::uint64_t{0}) return nullptr;
  space.large_blocks[first] = {request.bytes, pages, 0};
  RegionInfo region;
  region.begin = address_of_large(first);
  region.pages = pages;
  region.kind = RegionKind::heap_block;
  region.placement = request.placement;
  add_region(region, request.bytes, request.caller, ++books.blocks_named);
  return reinterpret_cast<void*>(region.begin);
}

void free_large(std::uintptr_t address) REQUIRES(books_lock) {
  const std::uint64_t first = large_block(address);
  LargeBlock& block = space.large_blocks[first];
  retire_pages(address, block.pages);
  // They are not given back to the system: other nodes keep copies, and a trace has to show the same old contents.
  for (std::uint64_t i = 0; i < block.pages; ++i) {
    space.was_used[first + i] = true;
    space.is_unmapped[first + i] = false;
  }
  give_pages_back(first, taken_by(block.pages));
  block = {};
}

constexpr std::uint64_t block_step = region_alignment / page_bytes;  ///< blocks begin at multiples of it

/// The first page of the block that `page` is of; `page` itself if it is of none.
std::uint64_t first_page_of_block(std::uint64_t page) REQUIRES(books_lock) {
  for (std::uint64_t first = page / block_step * block_step;; first -= block_step) {
    const LargeBlock& block = space.large_blocks[first];
    if (block.pages > 0) return page < first + block.pages ? first : page;
    if (first == 0) return page;
  }
}

/// Takes address space of `large_bytes`, and a sixteenth of it for small blocks. False if there is not as much.
bool reserve_blocks(std::size_t large_bytes) REQUIRES(starting) {
  const std::size_t small_bytes = large_bytes / 16;
  const std::uintptr_t begin = reserve_heap(preferred_address, small_bytes + large_bytes);
  if (begin == 0) return false;
  reserved = {.small_begin = begin,
              .small_bytes = small_bytes,
              .large_begin = begin + small_bytes,
              .large_bytes = large_bytes,
              .small_pages = reserve_array<SmallPage>(small_bytes / page_bytes + 1),
              .large_blocks = reserve_array<LargeBlock>(large_bytes / page_bytes),
              .is_unmapped = reserve_array<bool>(large_bytes / page_bytes),
              .was_used = reserve_array<bool>(large_bytes / page_bytes)};
  return true;
}

}  // namespace

void start() {
  std::size_t large_bytes = wanted_bytes;
  for (; !reserve_blocks(large_bytes); large_bytes /= 2) {
    if (large_bytes <= least_bytes) end_run({"there is no address space for the program's heap. Is `ulimit -v` set?"});
  }
}

AddressRange whole() {
  return {space.small_begin, space.large_begin + space.large_bytes};
}

bool holds(const void* block) {
  return whole().holds(reinterpret_cast<std::uintptr_t>(block));
}

bool is_large(const void* block) {
  return holds(block) && reinterpret_cast<std::uintptr_t>(block) >= space.large_begin;
}

std::size_t small_room(const Request& request) {
  if (request.bytes >= page_bytes || request.alignment >= page_bytes || request.in_own_pages) return 0;
  return class_bytes[class_for(request.bytes > quantum ? request.bytes : quantum, request.alignment)];
}

void* allocate(const Request& request) {
  const HeapGuard guard;
  if (request.alignment == 0 || (request.alignment & (request.alignment - 1)) != 0) return nullptr;
  const std::size_t room = small_room(request);
  return room > 0 ? allocate_small(class_for(room, request.alignment)) : allocate_large(request);
}

void clear(void* block, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  if (is_small(begin)) {
    std::memset(block, 0, bytes);
    return;
  }
  for (AddressRange rest{begin, begin + bytes}; rest.begin < rest.end;) {
    const AddressRange used = first_used_pages(rest);
    std::memset(reinterpret_cast<void*>(used.begin), 0, used.end - used.begin);
    rest.begin = used.end;
  }
}

AddressRange first_used_pages(const AddressRange& part) {
  const HeapGuard guard;
  const auto was_used = [](std::uintptr_t at) { return space.was_used[(at - space.large_begin) / page_bytes]; };
  AddressRange used = part;
  while (used.begin < part.end && !was_used(used.begin)) used.begin += page_bytes;
  if (used.begin > part.end) used.begin = part.end;
  used.end = used.begin;
  while (used.end < part.end && was_used(used.end)) used.end += page_bytes;
  if (used.end > part.end) used.end = part.end;
  return used;
}

void* unmap_first(AddressRange& part) {
  const HeapGuard guard;
  // Small blocks share their pages: what is said of those is of no block. Neither is what was never used.
  const std::uintptr_t used_end = address_of_large(books.large_pages_used);
  const std::uintptr_t begin = std::max(part.begin, space.large_begin);
  part = {begin, std::min(part.end, used_end)};
  if (part.begin >= part.end) return nullptr;
  std::uint64_t page = (part.begin - space.large_begin) / page_bytes;
  const std::uint64_t end = (part.end - space.large_begin) / page_bytes;
  std::uint64_t first = first_page_of_block(page);
  if (space.large_blocks[first].pages == 0) {
    page = (page + block_step - 1) / block_step * block_step;
    while (page < end && space.large_blocks[page].pages == 0) page += block_step;
    first = page;
  }
  part.begin = address_of_large(page);
  if (page >= end) return nullptr;
  LargeBlock& block = space.large_blocks[first];
  std::uint64_t lost = 0;
  for (; page < end && page < first + block.pages; ++page) {
    lost += space.is_unmapped[page] ? 0 : 1;
    space.is_unmapped[page] = true;
  }
  part.begin = address_of_large(page);
  block.unmapped_pages += lost;
  return lost > 0 && block.unmapped_pages == block.pages ? reinterpret_cast<void*>(address_of_large(first)) : nullptr;
}

bool map_again(const AddressRange& part) {
  const HeapGuard guard;
  if (part.begin < space.large_begin || part.end > address_of_large(books.large_pages_used)) return false;
  std::uint64_t page = (part.begin - space.large_begin) / page_bytes;
  const std::uint64_t end = (part.end - space.large_begin) / page_bytes;
  while (page < end) {
    const std::uint64_t first = first_page_of_block(page);
    LargeBlock& block = space.large_blocks[first];
    // One that has no page left is free, or waits to be.
    if (block.pages == block.unmapped_pages) return false;
    for (; page < end && page < first + block.pages; ++page) {
      block.unmapped_pages -= space.is_unmapped[page] ? 1 : 0;
      space.is_unmapped[page] = false;
    }
  }
  return true;
}

std::size_t room(const void* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const HeapGuard guard;
  if (is_small(address)) return class_bytes[small_block(address).page.class_number];
  return space.large_blocks[large_block(address)].pages * page_bytes;
}

void free(void* block) {
  const HeapGuard guard;
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  if (is_small(address)) {
    free_small(address);
  } else {
    free_large(address);
  }
}

}  // namespace sdsm::program::heap
