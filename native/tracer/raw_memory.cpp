#include "native/tracer/raw_memory.hpp"

#include <sys/mman.h>

#include "native/tracer/ending.hpp"

namespace sdsm::tracer {

void* reserve(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) end_run({"the tracer needs more address space than it gets. Is `ulimit -v` set?"});
  return memory;
}

void* grow_reservation(void* memory, std::size_t old_bytes, std::size_t new_bytes) {
  if (old_bytes == 0) return reserve(new_bytes);
  void* moved = mremap(memory, old_bytes, new_bytes, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) end_run({"the tracer's memory is used up: an interval touches too many pages"});
  return moved;
}

}  // namespace sdsm::tracer
