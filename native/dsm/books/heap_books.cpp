#include "native/dsm/books/heap_books.hpp"

#include <map>
#include <utility>
#include <vector>

#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/raw_memory.hpp"

namespace sdsm::dsm {

using namespace program;

namespace {

struct FreedBlocks {
  bool must_wait = false;                                                 ///< inside of a parallel region
  std::map<std::pair<ProcessId, std::size_t>, std::vector<void*>> small;  ///< by the process that freed them, and by
                                                                          ///< their room
  std::vector<void*> large;                                               ///< of whole pages
};
FreedBlocks freed GUARDED_BY(heap::books_lock);

}  // namespace

void* allocate_for(ProcessId process, const heap::Request& request) {
  const HeapGuard guard;
  const auto waiting = freed.small.find({process, heap::small_room(request)});
  if (waiting == freed.small.end() || waiting->second.empty()) return heap::allocate(request);
  void* block = waiting->second.back();
  waiting->second.pop_back();
  return block;
}

void free_for(ProcessId process, void* block) {
  const HeapGuard guard;
  if (!freed.must_wait) return heap::free(block);
  const std::size_t room = heap::room(block);
  if (room < page_bytes) {
    freed.small[{process, room}].push_back(block);
  } else {
    freed.large.push_back(block);
  }
}

bool is_in_parallel_region() {
  const HeapGuard guard;
  return freed.must_wait;
}

void end_waiting_of_blocks() {
  const HeapGuard guard;
  for (auto& [key, blocks] : freed.small) {
    for (void* block : blocks) heap::free(block);
    blocks.clear();
  }
  for (void* block : freed.large) heap::free(block);
  freed.large.clear();
}

void begin_parallel_region() {
  const HeapGuard guard;
  freed.must_wait = true;
}

void end_parallel_region() {
  const HeapGuard guard;
  freed.must_wait = false;
  end_waiting_of_blocks();
}

}  // namespace sdsm::dsm
