/// Memory that the program maps itself. Anonymous mappings are blocks of the shared heap, and begin with zeros as the
/// kernel's do. Others stay private, and are counted (unseen.hpp).
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "native/guest/kernel/mapped_memory.hpp"
#include "native/guest/kernel/system_calls.hpp"
#include "native/guest/memory/shared_memory.hpp"
#include "native/guest/runtime/ending.hpp"
#include "native/guest/runtime/entry.hpp"
#include "native/guest/runtime/next_function.hpp"
#include "native/guest/runtime/program_image.hpp"
#include "native/guest/runtime/raw_memory.hpp"
#include "native/guest/runtime/unseen.hpp"

namespace sdsm::program {
namespace {

constinit std::atomic<bool> is_for_children = false;

constexpr int at_a_place = MAP_FIXED | MAP_FIXED_NOREPLACE;

/// No program has as much memory; more would not be an address.
constexpr std::size_t most_bytes = std::size_t{1} << 47;

/// Whole pages, if `memory` begins one. Precondition: `bytes` <= most_bytes.
AddressRange pages_of(const void* memory, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  return {begin, page_up(begin + bytes)};
}

/// Whether a mapping can be a block. Memory for code cannot, nor memory of large pages, below 4 GiB, that grows by
/// itself, or at an address that the program chose outside of the heap.
bool can_be_block(int protection, int flags) {
  constexpr int others = MAP_HUGETLB | MAP_32BIT | MAP_GROWSDOWN | at_a_place;
  return (flags & MAP_ANONYMOUS) != 0 && (flags & others) == 0 && (protection & PROT_EXEC) == 0;
}

void* new_block(std::size_t bytes, std::uintptr_t caller) {
  return shared_heap::allocate({.bytes = bytes, .alignment = page_bytes, .caller = caller, .in_own_pages = true});
}

/// MAP_FIXED inside of the heap: zeros in place of what was there.
void* map_over(void* wanted, std::size_t bytes, int protection, int flags) {
  if ((flags & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE) {
    errno = EEXIST;
    return MAP_FAILED;
  }
  const AddressRange part = pages_of(wanted, bytes <= most_bytes ? bytes : 0);
  if (part.begin % page_bytes != 0 || part.begin == part.end) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  if ((flags & MAP_ANONYMOUS) == 0 || (protection & PROT_EXEC) != 0 || !shared_heap::map_again(part)) {
    end_run(
        {"the program maps a file or code into shared memory, or maps memory anew where it has unmapped all "
         "(mmap with MAP_FIXED). Let mmap choose the address."});
  }
  // Without rights, too: mprotect() may give them later, and must give zeros with them.
  std::memset(wanted, 0, part.end - part.begin);
  return wanted;
}

int refuse(int error) {
  errno = error;
  return -1;
}

}  // namespace

void* map_memory(void* wanted, std::size_t bytes, int protection, int flags, int file, off_t offset,
                 std::uintptr_t caller) {
  if (program_image.is_program(caller) && bytes > 0) {
    if ((flags & at_a_place) != 0 && shared_heap::holds(wanted)) return map_over(wanted, bytes, protection, flags);
    void* const block = can_be_block(protection, flags) ? new_block(bytes, caller) : nullptr;
    if (block != nullptr) {
      shared_heap::clear(block, page_up(bytes));
      if ((flags & MAP_SHARED) != 0) is_for_children = true;
      return block;
    }
  }
  const long memory = syscall(SYS_mmap, wanted, bytes, protection, flags, file, offset);
  if (memory != -1) {
    count_unseen((flags & MAP_ANONYMOUS) != 0 ? UnseenCall::mmap : UnseenCall::mmap_file, caller, bytes);
  }
  return reinterpret_cast<void*>(memory);
}

bool memory_is_for_children() {
  return is_for_children;
}

}  // namespace sdsm::program

using namespace sdsm::program;
using sdsm::page_bytes;

// The run-time maps memory by these, too, before anything can be looked up: they call the kernel. Only mmap asks who
// calls: the others' last call in a region's body returns to the run-time.
SDSM_ENTRY_AS(void*, mmap,
              (void* wanted, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept,
              map_memory(wanted, bytes, protection, flags, file, offset, SDSM_CALLER))
SDSM_ENTRY void* mmap64(void* wanted, std::size_t bytes, int protection, int flags, int file, off64_t offset) noexcept
    SDSM_ALIAS(mmap);

SDSM_ENTRY int munmap(void* memory, std::size_t bytes) noexcept {
  if (!shared_heap::holds(memory)) {
    return static_cast<int>(syscall(SYS_munmap, memory, bytes));
  }
  if (bytes == 0 || bytes > most_bytes) return refuse(EINVAL);
  const AddressRange part = pages_of(memory, bytes);
  if (part.begin % page_bytes != 0) return refuse(EINVAL);
  shared_heap::unmap(part);
  return 0;
}

SDSM_ENTRY void* mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags, ...) noexcept {
  const std::uintptr_t caller = SDSM_CALLER;
  const bool keeps_old = (flags & MREMAP_DONTUNMAP) != 0;
  if (shared_heap::holds(old)) {
    if ((flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0 || old_bytes == 0) {
      end_run(
          {"the program moves shared memory to an address that it chose, or maps it twice (mremap). Let mremap "
           "choose the address."});
    }
    if (old_bytes > most_bytes || bytes > most_bytes) {
      errno = ENOMEM;
      return MAP_FAILED;
    }
    const AddressRange before = pages_of(old, old_bytes);
    const AddressRange after = pages_of(old, bytes);
    if (bytes == 0 || before.begin % page_bytes != 0) {
      errno = EINVAL;
      return MAP_FAILED;
    }
    if (after.end <= before.end) {
      shared_heap::unmap({after.end, before.end});
      return old;
    }
    void* const moved = (flags & MREMAP_MAYMOVE) != 0 ? new_block(bytes, caller) : nullptr;
    if (moved == nullptr) {
      errno = ENOMEM;
      return MAP_FAILED;
    }
    const std::size_t kept = before.end - before.begin;
    std::memcpy(moved, old, kept);
    shared_heap::clear(static_cast<std::byte*>(moved) + kept, after.end - before.end);
    shared_heap::unmap(before);
    return moved;
  }
  va_list arguments;
  va_start(arguments, flags);
  // With MREMAP_DONTUNMAP alone it may be missing, and is a hint: what is no page's address was not meant.
  void* wanted = (flags & MREMAP_FIXED) != 0 || keeps_old ? va_arg(arguments, void*) : nullptr;
  if ((flags & MREMAP_FIXED) == 0 && reinterpret_cast<std::uintptr_t>(wanted) % page_bytes != 0) wanted = nullptr;
  va_end(arguments);
  const long memory = syscall(SYS_mremap, old, old_bytes, bytes, flags, wanted);
  const std::size_t mapped = keeps_old ? 0 : old_bytes;
  if (memory != -1 && bytes > mapped) count_unseen(UnseenCall::mremap, caller, bytes - mapped);
  return reinterpret_cast<void*>(memory);
}

/// The protection of shared memory is the engine's: what the program asks for has no effect.
SDSM_ENTRY int pkey_mprotect(void* memory, std::size_t bytes, int protection, int key) noexcept {
  if (!is_shared(reinterpret_cast<std::uintptr_t>(memory))) {
    const long number = key == -1 ? SYS_mprotect : SYS_pkey_mprotect;  // not every system lets programs call the other
    return static_cast<int>(syscall(number, memory, bytes, protection, key));
  }
  if ((protection & PROT_EXEC) != 0) {
    end_run({"the program makes shared memory executable (mprotect): map memory for code by mmap with PROT_EXEC."});
  }
  if (reinterpret_cast<std::uintptr_t>(memory) % page_bytes != 0) return refuse(EINVAL);
  constexpr int all_rights = PROT_READ | PROT_WRITE;
  if ((protection & all_rights) != all_rights) note_shut_by_program();
  return 0;
}
SDSM_ENTRY_AS(int, mprotect, (void* memory, std::size_t bytes, int protection) noexcept,
              pkey_mprotect(memory, bytes, protection, -1))

/// What the kernel would take away comes back as zeros; all else is advice about pages that are the engine's.
SDSM_ENTRY int madvise(void* memory, std::size_t bytes, int advice) noexcept {
  if (!is_shared(reinterpret_cast<std::uintptr_t>(memory))) {
    return static_cast<int>(syscall(SYS_madvise, memory, bytes, advice));
  }
  const bool clears = advice == MADV_DONTNEED || advice == MADV_REMOVE;
  if (reinterpret_cast<std::uintptr_t>(memory) % page_bytes != 0) return refuse(EINVAL);
  if (clears && !shared_heap::holds(memory)) return refuse(EINVAL);  // a variable's first value is not known any more
  if (clears) std::memset(memory, 0, page_up(bytes));
  return 0;
}

SDSM_ENTRY int mlock2(const void* memory, std::size_t bytes, unsigned flags) noexcept {
  if (is_shared(reinterpret_cast<std::uintptr_t>(memory))) return 0;
  return static_cast<int>(syscall(flags == 0 ? SYS_mlock : SYS_mlock2, memory, bytes, flags));
}
SDSM_ENTRY_AS(int, mlock, (const void* memory, std::size_t bytes) noexcept, mlock2(memory, bytes, 0))
SDSM_ENTRY int munlock(const void* memory, std::size_t bytes) noexcept {
  if (is_shared(reinterpret_cast<std::uintptr_t>(memory))) return 0;
  return static_cast<int>(syscall(SYS_munlock, memory, bytes));
}

SDSM_ENTRY void* sbrk(std::intptr_t bytes) noexcept {
  SDSM_NEXT_FUNCTION NextFunction<void*(std::intptr_t)> real{"sbrk"};
  if (bytes > 0) count_unseen(UnseenCall::sbrk, SDSM_CALLER, static_cast<std::uint64_t>(bytes));
  return real(bytes);
}
