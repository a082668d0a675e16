/// The engine's memory and refusals (native/guest/runtime/engine.hpp) that both engines share.
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/engine.hpp"

extern "C" void* __libc_malloc(std::size_t);
extern "C" void __libc_free(void*);

namespace sdsm::engine {

using namespace program;

void* allocate_shared(std::size_t bytes, std::size_t alignment) {
  void* block = shared_heap::allocate({.bytes = bytes, .alignment = alignment});
  if (block != nullptr) shared_heap::clear(block, bytes);
  return block;
}

void* reallocate_shared(void* block, std::size_t bytes) {
  return shared_heap::reallocate(block, bytes, 0);
}

void free_shared(void* block) {
  if (block != nullptr) shared_heap::free(block);
}

void* allocate_private(std::size_t bytes) {
  void* block = __libc_malloc(bytes > 0 ? bytes : 1);
  if (block == nullptr) end_run({"there is no memory left"});
  return block;
}

void free_private(void* block) {
  __libc_free(block);
}

void refuse(const char* what, const char* why) {
  end_run({"the program calls ", what, ": ", why});
}

}  // namespace sdsm::engine
