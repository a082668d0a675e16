#include "native/guest/runtime/raw_memory.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/next_function.hpp"

namespace sdsm::program {

void* reserve(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) end_run({"there is not enough address space. Is `ulimit -v` set?"});
  return memory;
}

void* grow_reservation(void* memory, std::size_t old_bytes, std::size_t new_bytes) {
  if (old_bytes == 0) return reserve(new_bytes);
  // The program's own mremap looks its caller up, perhaps in the very list that grows.
  SDSM_NEXT_FUNCTION NextFunction<void*(void*, std::size_t, std::size_t, int, ...)> real{"mremap"};
  void* moved = real.for_run_time()(memory, old_bytes, new_bytes, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED)
    end_run({"the memory for lists of pages is used up: too many pages are touched between two synchronisations"});
  return moved;
}

bool set_protection(std::uintptr_t begin, std::uintptr_t end, int protection) {
  // The program's own mprotect leaves shared memory as it is (mapped_memory.cpp).
  SDSM_NEXT_FUNCTION NextFunction<int(void*, std::size_t, int)> real{"mprotect"};
  if (real.for_run_time()(reinterpret_cast<void*>(begin), end - begin, protection) == 0) return true;
  if (errno == ENOMEM) return false;
  end_run({"mprotect fails on shared memory, error ", Decimal(static_cast<std::uint64_t>(errno))});
}

}  // namespace sdsm::program
