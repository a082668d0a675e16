#include "native/dsm/memory/library_heap.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>

#include "native/dsm/memory/node.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/raw_memory.hpp"

extern "C" void* __libc_malloc(std::size_t);

namespace sdsm::dsm {
namespace {

/// Address space of each process's library: 256 of them take a thousandth of what there is.
constexpr std::uintptr_t bytes_each = std::uintptr_t{4} << 30;
constexpr std::size_t least_step = std::size_t{1} << 20;
/// Where process 0's begin; those of the others follow.
constinit std::uintptr_t first = 0;

std::uintptr_t program_break() {
  return reinterpret_cast<std::uintptr_t>(sbrk(0));
}

/// Moves the end of the process's data, and leaves nothing in between. False if the system does not let it.
bool move_break(std::uintptr_t wanted) {
  std::size_t step = std::size_t{256} << 20;
  for (std::uintptr_t at = program_break(); at < wanted;) {
    if (step > wanted - at) step = wanted - at;
    if (reinterpret_cast<std::uintptr_t>(sbrk(static_cast<std::intptr_t>(step))) == at) {
      const std::uintptr_t begin = (at + page_bytes - 1) / page_bytes * page_bytes;
      munmap(reinterpret_cast<void*>(begin), at + step - begin);
      at += step;
    } else if (step <= least_step) {
      return false;
    } else {
      step /= 2;
    }
  }
  return true;
}

}  // namespace

void keep_library_heap_apart(std::uint32_t process) {
  // One heap for all threads, without mappings of its own: those would lie alike in all processes.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  malloc_trim(0);
  // The system counts the way of the break as data.
  rlimit data{};
  if (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != data.rlim_max) {
    data.rlim_cur = data.rlim_max;
    setrlimit(RLIMIT_DATA, &data);
  }
  first = (program_break() / bytes_each + 1) * bytes_each;
  const std::uintptr_t own = first + process * bytes_each;
  if (!move_break(own)) {
    end_run({"the C library gets no addresses for memory of its own. Is `ulimit -d` set, or `ulimit -v`?"});
  }
  // What is left of its memory so far, at addresses that the other processes have, too, is used up.
  constexpr std::size_t smallest = 24;
  while (reinterpret_cast<std::uintptr_t>(__libc_malloc(smallest)) - 1 < own) continue;
}

int process_of_library_heap(std::uintptr_t address) {
  const std::uintptr_t number = (address - first) / bytes_each;
  return first != 0 && address >= first && number < processes() ? static_cast<int>(number) : -1;
}

}  // namespace sdsm::dsm
