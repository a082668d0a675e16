/// Memory that the program maps itself. Anonymous mappings are blocks of the shared heap, and begin with zeros as the
/// kernel's do. Others stay private, and are counted (unseen.hpp).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace sdsm::program {

/// mmap, called from `caller`.
void* map_memory(void* wanted, std::size_t bytes, int protection, int flags, int file, off_t offset,
                 std::uintptr_t caller);

/// Whether the program has mapped memory, now of the heap, that children of fork() would share, too.
bool memory_is_for_children();

}  // namespace sdsm::program
