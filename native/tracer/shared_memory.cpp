/// The tracer's answers to native/guest/memory/shared_memory.hpp that concern the heap, the placement and forked
/// children.
#include "native/guest/memory/shared_memory.hpp"

#include <sys/mman.h>

#include "native/guest/runtime/program_image.hpp"
#include "native/tracer/execution/pages.hpp"
#include "native/tracer/execution/threads.hpp"
#include "native/tracer/record/options.hpp"
#include "native/tracer/record/start.hpp"

namespace sdsm::program {

using namespace tracer;

std::uintptr_t reserve_heap(std::uintptr_t begin, std::size_t bytes) {
  // Pages before and after that nobody uses keep the heap apart from other ranges.
  void* wanted = reinterpret_cast<void*>(begin - region_alignment);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  const std::size_t total = bytes + 2 * region_alignment;
  void* memory = mmap(wanted, total, PROT_NONE, flags, -1, 0);
  if (memory == MAP_FAILED) return 0;
  const std::uintptr_t first = region_up(reinterpret_cast<std::uintptr_t>(memory) + page_bytes);
  if (set_protection(first, first + bytes, PROT_READ | PROT_WRITE)) {
    enter();
    add_range(first, first + bytes);
    return first;
  }
  munmap(memory, total);
  return 0;
}

HeapGuard::HeapGuard() : was_inside_(set_inside(true)) {}
HeapGuard::~HeapGuard() {
  set_inside(was_inside_);
}

namespace shared_heap {
bool holds(const void* block) {
  return heap::holds(block);
}
void* allocate(const heap::Request& request) {
  return heap::allocate(request);
}
void clear(void* block, std::size_t bytes) {
  heap::clear(block, bytes);
}
void free(void* block) {
  heap::free(block);
}
void unmap(AddressRange part) {
  const HeapGuard guard;
  while (part.begin < part.end) {
    void* const block = heap::unmap_first(part);
    if (block != nullptr) heap::free(block);
  }
}
bool map_again(const AddressRange& part) {
  return heap::map_again(part);
}
std::size_t room(const void* block) {
  return heap::room(block);
}
}  // namespace shared_heap

int home_of_address(std::uintptr_t address) {
  enter();
  const Range* range = find_range(address);
  if (range == nullptr) return -1;
  const std::uint32_t number = range->page_of(address).region;
  if (number == no_region) return -1;
  const RegionInfo& region = region_info(number);
  const RegionHomes homes = homes_of(region, region.placement, region.pages);
  return static_cast<int>(index_of(homes.home(page_index(number, address), options.threads)));
}

bool place_globals(std::uintptr_t begin, std::size_t bytes, Placement placement) {
  const AddressRange variables = program_image.variables_at(begin);
  if (variables.end == 0 || bytes > variables.end - begin) return false;
  RegionInfo region;
  region.begin = begin;
  region.pages = (bytes + page_bytes - 1) / page_bytes;
  region.kind = RegionKind::mapped;
  region.placement = placement;
  retire_pages(begin, region.pages);
  add_region(region, bytes);
  return true;
}

void allow_fork() {}

void become_lone_child() {
  enter();
  become_untraced_child();
}

}  // namespace sdsm::program
