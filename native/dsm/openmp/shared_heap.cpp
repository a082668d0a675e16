/// The heap as each process uses it: process 0 keeps the books (native/guest/memory/heap.hpp), the others ask it.
#include <cstring>

#include "native/dsm/books/heap_books.hpp"
#include "native/dsm/books/regions.hpp"
#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/opened_pages.hpp"
#include "native/dsm/protocol/pages.hpp"
#include "native/dsm/protocol/protocol.hpp"
#include "native/dsm/requests/asking.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/program_image.hpp"

namespace sdsm::program {

using namespace dsm;

namespace {
/// The application thread and the service thread use the books. One call of a guarded function may make another.
constinit Mutex books(Mutex::Kind::recursive);
}  // namespace

HeapGuard::HeapGuard() : was_inside_(false) {
  books.lock();
}
HeapGuard::~HeapGuard() {
  books.unlock();
}

std::uintptr_t reserve_heap(std::uintptr_t begin, std::size_t bytes) {
  Range* const range = add_range(begin, bytes);
  if (range == nullptr) return 0;
  range->is_heap = true;
  return begin;
}

namespace shared_heap {

bool holds(const void* block) {
  return heap::holds(block);
}

void* allocate(const heap::Request& request) {
  application.check();
  if (is_initial()) return allocate_for(self.process, request);
  const Head made = ask(ProcessId{0}, {.kind = WireKind::allocate, .bytes = sizeof request}, &request);
  return reinterpret_cast<void*>(made.value);
}

/// Process 0 knows which pages are still zero.
void clear(void* block, std::size_t bytes) {
  application.check();
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t end = begin + bytes;
  if (is_initial() || !heap::is_large(block)) return heap::clear(block, bytes);
  for (std::uintptr_t at = begin; at < end;) {
    const Head used = ask(ProcessId{0}, {.kind = WireKind::used_pages, .address = at, .value = end});
    std::memset(reinterpret_cast<void*>(used.address), 0, used.value - used.address);
    at = used.value;
  }
}

void free(void* block) {
  application.check();
  if (is_initial()) {
    // The pages' name goes with the block, and with it their place in the next flush.
    if (heap::is_large(block) && !is_in_parallel_region() && are_pages_protected()) {
      const auto begin = reinterpret_cast<std::uintptr_t>(block);
      const NodeGuard guard;
      the_protocol().flush_pages({begin, begin + page_down(heap::room(block))});
    }
    return free_for(self.process, block);
  }
  ask(ProcessId{0}, {.kind = WireKind::free_block, .address = reinterpret_cast<std::uint64_t>(block)});
}

void unmap(AddressRange part) {
  application.check();
  if (!is_initial()) {
    ask(ProcessId{0}, {.kind = WireKind::unmap_pages, .address = part.begin, .value = part.end});
    return;
  }
  while (part.begin < part.end) {
    void* const block = heap::unmap_first(part);
    if (block != nullptr) free(block);
  }
}

bool map_again(const AddressRange& part) {
  application.check();
  if (is_initial()) return heap::map_again(part);
  return ask(ProcessId{0}, {.kind = WireKind::map_again, .address = part.begin, .value = part.end}).value != 0;
}

std::size_t room(const void* block) {
  application.check();
  if (is_initial()) return heap::room(block);
  const auto address = reinterpret_cast<std::uint64_t>(block);
  return ask(ProcessId{0}, {.kind = WireKind::room_of, .address = address}).value;
}

}  // namespace shared_heap

bool place_globals(std::uintptr_t begin, std::size_t bytes, Placement placement) {
  application.check();
  const AddressRange variables = program_image.variables_at(begin);
  if (!is_initial() || variables.end == 0 || bytes > variables.end - begin) return false;
  RegionInfo region;
  region.begin = begin;
  region.pages = (bytes + page_bytes - 1) / page_bytes;
  region.kind = RegionKind::mapped;
  region.placement = placement;
  // Some may be at home elsewhere, from an earlier placement: what is there now is to move.
  touch_for_kernel(reinterpret_cast<const void*>(begin), region.pages * page_bytes, KernelUse::reads);
  {
    const HeapGuard guard;
    retire_pages(begin, region.pages);
    add_region(region, bytes);
  }
  move_home(begin, region.pages, Zeros::must_go);
  return true;
}

/// The child would have its parent's memory itself, stack included, and no part in keeping it coherent.
void allow_fork() {
  end_run(
      {"the program calls fork: a child cannot share memory that is made in software. Use system, popen or "
       "posix_spawn."});
}

void become_lone_child() {}

}  // namespace sdsm::program
