#include "native/dsm/memory/node.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "native/dsm/memory/memory.hpp"
#include "native/dsm/memory/region_books.hpp"
#include "native/guest/runtime/ending.hpp"

namespace sdsm::dsm {
namespace {

/// Address space: the states of a million pages take a tenth of a percent of it.
constexpr std::size_t node_bytes = std::size_t{64} << 30;

constexpr std::size_t after_node = (sizeof(Node) + 63) / 64 * 64;

}  // namespace

void* NodeArena::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t size = std::bit_ceil(bytes < sizeof(FreeBlock) ? sizeof(FreeBlock) : bytes);
  FreeBlock*& first = free_[std::countr_zero(size)];
  if (first != nullptr && alignment <= size) {
    FreeBlock* block = first;
    first = block->next;
    return block;
  }
  // A power of two that begins at a multiple of 64, or of itself where it is smaller, is aligned enough.
  const std::size_t boundary = size < 64 ? size : 64;
  auto begin = (reinterpret_cast<std::uintptr_t>(next_) + boundary - 1) / boundary * boundary;
  if (begin + size > reinterpret_cast<std::uintptr_t>(end_)) program::end_run({"the node's page tables are full"});
  next_ = reinterpret_cast<std::byte*>(begin + size);
  return reinterpret_cast<void*>(begin);
}

void NodeArena::do_deallocate(void* block, std::size_t bytes, std::size_t /*alignment*/) {
  const std::size_t size = std::bit_ceil(bytes < sizeof(FreeBlock) ? sizeof(FreeBlock) : bytes);
  FreeBlock*& first = free_[std::countr_zero(size)];
  auto* freed = static_cast<FreeBlock*>(block);
  freed->next = first;
  first = freed;
}

Node::Node(std::byte* memory, std::size_t bytes)
    : arena(memory, bytes),
      notices(&arena),
      pages(own_node(), ProcessId{index_of(own_node()) * self.layout.threads_per_node}, self.layout.threads_per_node,
            self.invalidation == Invalidation::changed ? &notices : nullptr, &arena, self.home_pages),
      twinned(&arena),
      arriving(&arena),
      downgrading(&arena),
      operating(&arena),
      copies{0, std::pmr::vector<Place>(&arena), std::pmr::vector<Place>(&arena)},
      grants(std::size_t{processes()} * self.layout.threads_per_node, &arena) {
  // Their processes have them open for good (opened_pages.hpp).
  for (std::uint32_t process = 0; process < processes(); ++process) {
    notices.add_unnoticed(RegionId{stack_region(process)});
    notices.add_unnoticed(RegionId{control_region(process)});
  }
  mutex.share_between_processes(false);
  pthread_condattr_t waiting;
  pthread_condattr_init(&waiting);
  pthread_condattr_setpshared(&waiting, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&arrival, &waiting);
  is_made = true;
}

void make_node() {
  std::byte* memory = map_node_memory(reinterpret_cast<std::uintptr_t>(&node()), node_bytes);
  if (memory == nullptr) program::end_run({"there is no address space for page tables. Is `ulimit -v` set?"});
  const bool is_first = index_of(self.process) % self.layout.threads_per_node == 0;
  if (is_first) new (memory) Node(memory + after_node, node_bytes - after_node);
}

const Place* find_twinned(std::uintptr_t address) {
  const auto is_in = [&](const Place& place) {
    return place.address != 0 && slot_of(place.address) == slot_of(address);
  };
  const auto found = std::find_if(node().twinned.begin(), node().twinned.end(), is_in);
  return found == node().twinned.end() ? nullptr : &*found;
}

void end_before_node_is_made() {
  program::end_run({"an error of sdsm's: a process used its node before the first one had made it"});
}

}  // namespace sdsm::dsm
