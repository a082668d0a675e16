#include "native/dsm/heap_books.hpp"

#include <map>
#include <utility>
#include <vector>

#include "native/dsm/cluster.hpp"
#include "native/program/raw_memory.hpp"
#include "native/program/shared_memory.hpp"

namespace sdsm::dsm {

using namespace program;

namespace {

bool is_parallel = false;
/// Small blocks by who freed them and by their room, and blocks of whole pages. Guarded by HeapGuard.
std::map<std::pair<ProcessId, std::size_t>, std::vector<void*>> small_blocks;
std::vector<void*> large_blocks;

}  // namespace

void* allocate_for(ProcessId process, const heap::Request& request) {
  const HeapGuard guard;
  const auto waiting = small_blocks.find({process, heap::small_room(request)});
  if (waiting == small_blocks.end() || waiting->second.empty()) return heap::allocate(request);
  void* block = waiting->second.back();
  waiting->second.pop_back();
  return block;
}

void free_for(ProcessId process, void* block) {
  const HeapGuard guard;
  if (!is_parallel) return heap::free(block);
  const std::size_t room = heap::room(block);
  if (room < page_bytes) {
    small_blocks[{process, room}].push_back(block);
  } else {
    large_blocks.push_back(block);
  }
}

void end_waiting_of_blocks() {
  const HeapGuard guard;
  for (auto& [key, blocks] : small_blocks) {
    for (void* block : blocks) heap::free(block);
    blocks.clear();
  }
  for (void* block : large_blocks) heap::free(block);
  large_blocks.clear();
}

void begin_parallel_region() {
  is_parallel = true;
}

void end_parallel_region() {
  is_parallel = false;
  end_waiting_of_blocks();
}

}  // namespace sdsm::dsm
